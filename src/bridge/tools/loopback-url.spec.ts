import { loopbackUrl } from './loopback-url.js';

describe('loopbackUrl', () => {
  it.each(['http://127.0.0.1:2438', 'http://localhost:1/', 'http://[::1]:80', 'http://127.1:9'])(
    'takes %s',
    (url) => {
      expect(loopbackUrl(url)).not.toBeNull();
    },
  );
  it.each([
    'https://127.0.0.1',
    'http://127.0.0.2',
    'http://192.168.0.1',
    'http://127.0.0.1@example.com',
    'http://user@127.0.0.1',
    'http://127.0.0.1.nip.io',
    'http://127.0.0.1/?x=1',
    'http://127.0.0.1/#x',
    'http://0.0.0.0',
    'file:///127.0.0.1',
    '127.0.0.1',
    '',
  ])('refuses %s', (url) => {
    expect(loopbackUrl(url)).toBeNull();
  });
});
