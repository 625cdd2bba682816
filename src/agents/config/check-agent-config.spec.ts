import { TOOL_NAMES } from '../../bridge/protocol.js';
import { checkAgentConfig } from './check-agent-config.js';

const withTools = (tools: unknown) => ({ runtimeProvider: 'hermes', hermes: { model: 'demo', tools } });

describe('checkAgentConfig', () => {
  it('takes the tools that the bridge has', () => {
    expect(checkAgentConfig(withTools([...TOOL_NAMES])).problems).toEqual([]);
  });

  it('refuses a tool that does not exist, naming it and those there are', () => {
    expect(checkAgentConfig(withTools(['read_file', 'shell'])).problems).toEqual([
      {
        field: expect.stringMatching(/hermes\.tools\.1$/) as string,
        message: expect.stringContaining('list_files, read_file') as string,
      },
    ]);
  });
});
