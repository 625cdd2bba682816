import { takeSettings } from './bridge-settings.js';

const secret = 'secret-0123456789abcdef';

describe('takeSettings', () => {
  it('reads the settings and takes the secrets out of the environment', () => {
    const env = {
      BRIDGE_SECRET: secret,
      BRIDGE_LLM_BASE_URL: 'http://x/v1',
      BRIDGE_LLM_API_KEY: 'k',
      OTHER: '1',
    };
    const settings = takeSettings(env);
    expect(settings).toMatchObject({
      secret,
      llm: { baseUrl: 'http://x/v1', apiKey: 'k' },
      maxToolCalls: 50,
    });
    expect(env).toEqual({ BRIDGE_LLM_BASE_URL: 'http://x/v1', OTHER: '1' });
  });
  it('names every wrong variable, never a value, and takes the secrets out all the same', () => {
    const env = { BRIDGE_SECRET: 'short', BRIDGE_MAX_TOOL_CALLS: 'many', BRIDGE_LLM_API_KEY: 'canary-key' };
    expect(() => takeSettings(env)).toThrow(
      /^(?=.*BRIDGE_SECRET)(?=.*BRIDGE_MAX_TOOL_CALLS)(?!.*short)(?!.*canary)/,
    );
    expect(env).toEqual({ BRIDGE_MAX_TOOL_CALLS: 'many' });
  });
});
