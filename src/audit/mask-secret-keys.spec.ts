import { maskSecretKeys } from './mask-secret-keys.js';

describe('maskSecretKeys', () => {
  it.each(['key', 'apiKey', 'api_key', 'accessToken', 'token', 'client_secret', 'Authorization', 'password'])(
    'masks the value of %s at any depth',
    (name) => {
      expect(maskSecretKeys({ list: [{ [name]: 'hush' }] })).toEqual({ list: [{ [name]: '[redacted]' }] });
    },
  );

  it.each(['credentialRef', 'keyEnv', 'keyFile', 'agentKey', 'slotKey', 'tokens', 'name', 'monkey'])(
    'leaves %s, which only names or counts',
    (name) => {
      expect(maskSecretKeys({ [name]: 'shown' })).toEqual({ [name]: 'shown' });
    },
  );

  it('leaves what is no text under such a name: a budget of tokens is no secret', () => {
    expect(maskSecretKeys({ token: 5, secret: { inner: 'x' } })).toEqual({
      token: 5,
      secret: { inner: 'x' },
    });
  });
});
