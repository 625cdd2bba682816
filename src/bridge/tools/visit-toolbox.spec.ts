import { TOOL_NAMES } from '../protocol.js';
import { visitToolbox } from './visit-toolbox.js';

const silent = { debug: ignore, info: ignore, warn: ignore, error: ignore };
function ignore(): void {
  // Nothing is expected to be logged.
}

describe('visitToolbox', () => {
  it('has a tool for every name that graphs and agent versions may hold', () => {
    const toolbox = visitToolbox(
      {
        run_id: 'r',
        visit_uuid: 'v',
        node_id: 'n',
        model: 'demo',
        instructions: '',
        prompt: '',
        tools: [...TOOL_NAMES],
        workspace_dir: '/nowhere',
        output_schema: null,
        timeout_seconds: 1,
        context_query: { base_url: 'http://127.0.0.1:1', token: 't', run_id: 'r', visit_uuid: 'v' },
      },
      { maxCalls: 1, secrets: [], logger: silent },
    );
    expect(toolbox.tools.map(({ name }) => name).sort()).toEqual([...TOOL_NAMES].sort());
  });
});
