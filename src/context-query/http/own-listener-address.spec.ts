import { loopbackUrl } from '../../bridge/tools/loopback-url.js';
import { ownListenerAddress } from './own-listener-address.js';

describe('ownListenerAddress', () => {
  it.each(['127.0.0.1', 'localhost', '::1', '[::1]', '0:0:0:0:0:0:0:1', '0.0.0.0', '::'])(
    'is none where the main listener on %s is reached by loopback',
    (host) => expect(ownListenerAddress(null, host)).toBeNull(),
  );

  it.each(['127.0.0.2', '127.1.2.3', '10.0.0.5', '::ffff:127.0.0.1', 'fd00::1', 'example.com', 'a host'])(
    'is a free port on loopback where a bridge would not be sent to %s',
    (host) => {
      const address = ownListenerAddress(null, host);
      expect(address).toEqual({ host: '127.0.0.1', port: 0 });
      expect(loopbackUrl(`http://${address?.host}:1`)).not.toBeNull();
    },
  );

  it('is where `listen` says', () => {
    expect(ownListenerAddress('127.0.0.1:2439', '0.0.0.0')).toEqual({ host: '127.0.0.1', port: 2439 });
    expect(ownListenerAddress('[::1]:0', '127.0.0.1')).toEqual({ host: '::1', port: 0 });
  });
});
