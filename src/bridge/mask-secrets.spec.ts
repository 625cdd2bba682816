import { maskSecrets, maskSecretsIn } from './mask-secrets.js';

const secret = 'canary-0123456789';

describe('maskSecrets', () => {
  it('shows the first four characters only', () => {
    expect(maskSecrets(`a ${secret} b ${secret}`, [secret])).toBe('a cana*** b cana***');
  });
  it('leaves text alone for secrets that are no secrets', () => {
    expect(maskSecrets('a word', ['', 'word'])).toBe('a word');
  });
  it('reaches every string and key of a value', () => {
    const value = { [secret]: [{ a: `x${secret}` }, 5, null] };
    expect(maskSecretsIn(value, [secret])).toEqual({ 'cana***': [{ a: 'xcana***' }, 5, null] });
  });
});
