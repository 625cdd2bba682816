import fc from 'fast-check';
import { signalsOf, signalsOfBody } from './dify-frames.js';

describe('signalsOf', () => {
  it('reads the ids of any frame, and takes nothing but an id for one', () => {
    const ids = { task_id: 't-1', message_id: '../../admin', conversation_id: 7, workflow_run_id: 'r_1' };
    expect(signalsOf({ event: 'node_retry', ...ids })).toEqual([
      { kind: 'ids', ids: { taskId: 't-1', workflowRunId: 'r_1' } },
    ]);
  });

  it.each([
    ['a decimal string', '0.0012', { amount: '0.0012', currency: 'EUR' }],
    ['a number', 0.5, { amount: '0.5', currency: 'EUR' }],
    ['in exponents', '1E-7', { amount: '0.0000001', currency: 'EUR' }],
    ['no price', 'free', undefined],
  ])('reads a price that is %s', (_what, total_price, cost) => {
    const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3, total_price, currency: 'EUR' };
    const [signal] = signalsOf({ event: 'message_end', metadata: { usage } });
    expect(signal).toMatchObject({ kind: 'usage', usage: { totalTokens: 3 } });
    expect(signal && 'usage' in signal ? signal.usage.cost : null).toEqual(cost);
  });

  it('reads reasoning as thinking', () => {
    expect(signalsOf({ event: 'reasoning_chunk', data: { reasoning: 'hm', is_final: false } })).toEqual([
      { kind: 'thinking', text: 'hm' },
    ]);
  });

  it.each(['ping', 'tts_message', 'agent_log', 'loop_started', 'message_file', 'tomorrow'])(
    'passes over %s',
    (event) => {
      expect(signalsOf({ event })).toEqual([]);
    },
  );

  it('reads outputs that are an object or its JSON text', () => {
    for (const outputs of [{ a: 1 }, '{"a":1}']) {
      expect(
        signalsOf({ event: 'workflow_finished', data: { status: 'succeeded', outputs } }),
      ).toContainEqual({
        kind: 'finished',
        status: 'succeeded',
        outputs: { a: 1 },
        error: null,
      });
    }
  });

  it('never throws, whatever a frame is', () => {
    fc.assert(
      fc.property(
        fc.jsonValue(),
        fc.constantFrom('message', 'agent_thought', 'workflow_finished', 'error'),
        (value, event) => {
          signalsOf(value);
          signalsOf({ event, data: value, metadata: value, answer: value, tool: value, tool_input: value });
          signalsOfBody(value);
          return true;
        },
      ),
    );
  });
});
