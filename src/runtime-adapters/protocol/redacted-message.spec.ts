import { SecretRedactor } from '../../credentials/index.js';
import { redactedMessage } from './redacted-message.js';

const redactor = new SecretRedactor();
redactor.register('credentials.c', 'canary-key-1');

describe('redactedMessage', () => {
  it.each([
    ['our own secret', 'key canary-key-1 is bad', 'key [redacted] is bad'],
    ['a bearer token', 'got Bearer abcdefgh12345', 'got [redacted]'],
    ['a key of somebody else', 'Incorrect API key sk-AbCdEfGh1234', 'Incorrect API key [redacted]'],
    ['a query', 'GET /x?token=abc&b=1', 'GET /x?token=[redacted]&b=1'],
    ['markup', '<html><b>502</b>\n\tBad Gateway</html>', '502 Bad Gateway'],
    ['control characters', 'a\u0000\u001b[31mb', 'a [31mb'],
  ])('takes out %s', (_what, text, expected) => {
    expect(redactedMessage(text, redactor)).toBe(expected);
  });

  it('is at most 500 characters', () => {
    expect(redactedMessage('x'.repeat(100_000), redactor)).toHaveLength(500);
  });
});
