import { childEnvironment } from './child-environment.js';

describe('childEnvironment', () => {
  const settings = { llm: null, maxToolCalls: 7, allowDemo: false, logLevel: 'info' };

  it('passes on what a program needs and no secret of the server', () => {
    const own = {
      PATH: '/bin',
      DATABASE_URL: 'postgres://u:p@h/d',
      NODE_OPTIONS: '--x',
      MY_KEY: 'k',
      TZ: 'UTC',
    };
    expect(childEnvironment(settings, 's', own)).toEqual({
      PATH: '/bin',
      TZ: 'UTC',
      BRIDGE_SECRET: 's',
      BRIDGE_PORT: '0',
      BRIDGE_PARENT: 'stdin',
      BRIDGE_MAX_TOOL_CALLS: '7',
      BRIDGE_ALLOW_DEMO: 'false',
      BRIDGE_LOG_LEVEL: 'info',
    });
  });
  it('hands over the endpoint of the models with its key', () => {
    const llm = { baseUrl: 'http://x/v1', apiKey: 'k' };
    expect(childEnvironment({ ...settings, llm }, 's', {})).toMatchObject({
      BRIDGE_LLM_BASE_URL: 'http://x/v1',
      BRIDGE_LLM_API_KEY: 'k',
    });
  });
});
