import { SecretRedactor } from './secret-redactor.js';

const SECRET = 'sk-"quoted"/+ä?secret';

function redactorOf(...secrets: string[]): SecretRedactor {
  const redactor = new SecretRedactor();
  secrets.forEach((secret, index) => {
    redactor.register(`credentials.c${String(index)}`, secret);
  });
  return redactor;
}

describe('SecretRedactor', () => {
  it.each([
    ['as it is', SECRET],
    ['as JSON text', JSON.stringify({ key: SECRET })],
    ['URL-encoded', `https://h/?key=${encodeURIComponent(SECRET)}`],
    ['in base64', Buffer.from(SECRET).toString('base64')],
  ])('finds a secret %s', (_how, text) => {
    const redacted = redactorOf(SECRET).redact(text);
    expect(redacted).toContain('[redacted]');
    expect(redacted).not.toContain('quoted');
  });

  it('takes the longer of two secrets with the same beginning', () => {
    expect(redactorOf('secret-1', 'secret-1-long').redact('secret-1-long secret-1')).toBe(
      '[redacted] [redacted]',
    );
  });

  it('leaves text alone that holds none, and ignores values that are ordinary words', () => {
    expect(redactorOf('the').redact('the cat')).toBe('the cat');
    expect(redactorOf().redact('anything')).toBe('anything');
  });

  it('redacts strings and keys at every depth', () => {
    expect(
      redactorOf('canary-key').redactDeep({ a: ['x canary-key'], 'canary-key': { n: 1, z: null } }),
    ).toEqual({
      a: ['x [redacted]'],
      '[redacted]': { n: 1, z: null },
    });
  });

  it('keeps no more than the newest values of one source', () => {
    const redactor = new SecretRedactor();
    for (let turn = 0; turn < 30; turn++) redactor.register('credentials.x', `value-number-${String(turn)}!`);
    expect(redactor.holdsSecret('value-number-29!')).toBe(true);
    expect(redactor.holdsSecret('value-number-0!')).toBe(false);
  });
});

describe('StreamRedactor', () => {
  it('finds a secret cut at any place, and loses nothing', () => {
    const text = 'before canary-key-1 after can';
    for (let size = 1; size <= text.length; size++) {
      const stream = redactorOf('canary-key-1').stream();
      let out = '';
      for (let at = 0; at < text.length; at += size) out += stream.push(text.slice(at, at + size));
      out += stream.flush();
      expect(out).toBe('before [redacted] after can');
    }
  });

  it('does not delay text that cannot begin a secret', () => {
    expect(redactorOf('canary-key-1').stream().push('hello ')).toBe('hello ');
  });
});
