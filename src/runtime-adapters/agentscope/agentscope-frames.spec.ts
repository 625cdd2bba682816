import fc from 'fast-check';
import { SecretRedactor } from '../../credentials/index.js';
import { ProcessAnswer } from './process-answer.js';
import { processSignalsOf } from './process-frames.js';
import { sessionEventOf } from './session-frames.js';

const TYPES = ['response', 'message', 'content', 'error', 'REPLY_END', 'TEXT_BLOCK_DELTA', 'TOOL_CALL_DELTA'];

describe('frames of AgentScope', () => {
  it.each([
    [{ error: 'no runner' }, { code: null, message: 'no runner' }],
    [{ error: { code: 500, message: 'boom' } }, { code: '500', message: 'boom' }],
    [{ error: { code: 'E', message: '' } }, { code: 'E', message: null }],
  ])('%j is a bare error', (frame, said) => {
    expect(processSignalsOf(frame)).toEqual([{ kind: 'failed', ...said, isBare: true }]);
  });

  it('pass over what they do not know', () => {
    expect(processSignalsOf({ object: 'novel' })).toEqual([]);
    expect(processSignalsOf({ object: 'content', type: 'image', image_url: 'x' })).toEqual([]);
    expect(sessionEventOf({ type: 'HINT_BLOCK', hint: 'x' })).toBeNull();
  });

  it('wait for the whole arguments of a tool', () => {
    const frame = {
      object: 'content',
      type: 'data',
      msg_id: 'm',
      data: { call_id: 't', name: 'f', arguments: '{"x' },
    };
    expect(processSignalsOf({ ...frame, delta: true })).toEqual([]);
    expect(
      processSignalsOf({ ...frame, delta: false, data: { ...frame.data, arguments: '{"x":1}' } }),
    ).toEqual([{ kind: 'tool_call', callId: 't', tool: 'f', args: { x: 1 } }]);
  });

  it('never throw, whatever a frame is', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(...TYPES), (value, type) => {
        const frame = {
          object: type,
          type,
          status: 'completed',
          content: value,
          data: value,
          error: value,
          output: value,
        };
        const answer = new ProcessAnswer({ type: 'text' }, new SecretRedactor());
        for (const signal of [...processSignalsOf(value), ...processSignalsOf(frame)]) answer.accept(signal);
        sessionEventOf(value);
        sessionEventOf({ ...frame, delta: value, usage: value });
        return true;
      }),
    );
  });
});

describe('ProcessAnswer', () => {
  it('gives the same text whether it came in deltas, whole, or both', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string(), { maxLength: 5 }),
        fc.boolean(),
        fc.boolean(),
        (pieces, deltas, whole) => {
          fc.pre(deltas || whole);
          const answer = new ProcessAnswer({ type: 'text' }, new SecretRedactor());
          const piece = (text: string, isWhole: boolean) =>
            answer.accept({ kind: 'piece', messageId: 'm', index: 0, text, isWhole });
          const events = [
            ...(deltas ? pieces.flatMap((text) => piece(text, false)) : []),
            ...(whole ? piece(pieces.join(''), true) : []),
            ...answer.accept({ kind: 'ended', status: 'completed' }),
          ];
          const shown = events.map((event) => (event.type === 'runtime.delta' ? event.text : '')).join('');
          expect(answer.end).toMatchObject({ kind: 'succeeded', output: { text: pieces.join('') } });
          expect(shown).toBe(pieces.join(''));
        },
      ),
    );
  });
});
