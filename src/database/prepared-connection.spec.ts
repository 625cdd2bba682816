import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { isConnectionError } from './connection-error.js';
import { PreparedConnection } from './prepared-connection.js';

describe('a connection of its own', () => {
  it('is given up when the server takes it and then says nothing', async () => {
    const sockets: Socket[] = [];
    const server = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const connection = new PreparedConnection(`postgresql://u:p@127.0.0.1:${port}/db`, 'test', 50);
    const refused: unknown = await connection.query({ text: 'SELECT 1' }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(Error);
    expect(isConnectionError(refused)).toBe(true);
    await connection.close();
    for (const socket of sockets) socket.destroy();
    server.close();
  });
});
