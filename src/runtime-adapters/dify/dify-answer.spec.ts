import { SecretRedactor } from '../../credentials/index.js';
import { DifyAnswer } from './dify-answer.js';
import type { DifySignal } from './dify-frames.js';

function answerOf(appType: 'agent' | 'chat' | 'workflow', ...signals: DifySignal[]) {
  const ref = { appType, appId: 'a', workflowId: null, credentialRef: 'c' };
  const answer = new DifyAnswer(ref, { type: 'text' }, new SecretRedactor());
  const events = signals.flatMap((signal) => answer.accept(signal));
  return { answer, events };
}

const text = (value: string): DifySignal => ({ kind: 'text', text: value, from: 'message' });
const END: DifySignal = { kind: 'message_end' };

describe('DifyAnswer', () => {
  it('ends once: what comes after the first terminal signal changes nothing', () => {
    const failed: DifySignal = { kind: 'error', status: 500, code: 'x', message: 'late' };
    const { answer, events } = answerOf('chat', text('a'), END, text('b'), failed, END);
    expect(answer.end).toEqual({ kind: 'succeeded', output: { text: 'a', data: null }, partial: false });
    expect(events).toEqual([{ type: 'runtime.delta', channel: 'text', text: 'a' }]);
  });

  it('keeps the first id it was told', () => {
    const first: DifySignal = { kind: 'ids', ids: { messageId: 'm1', taskId: 't1' } };
    const second: DifySignal = { kind: 'ids', ids: { messageId: 'm2', conversationId: 'c1' } };
    const { answer } = answerOf('chat', first, second);
    expect(answer.ids).toEqual({ messageId: 'm1', taskId: 't1', conversationId: 'c1' });
    expect(answer.providerRequestId).toBe('m1');
  });

  it('knows a workflow by its run and the others by their message', () => {
    const ids: DifySignal = { kind: 'ids', ids: { messageId: 'm', workflowRunId: 'r' } };
    expect(answerOf('workflow', ids).answer.providerRequestId).toBe('r');
    expect(answerOf('agent', ids).answer.providerRequestId).toBe('m');
  });

  it('does not lose the tokens of a chatflow to the total of its workflow', () => {
    const full = { promptTokens: 1, completionTokens: 2, totalTokens: 3 };
    const total = { promptTokens: null, completionTokens: null, totalTokens: 9 };
    const { answer } = answerOf('chat', { kind: 'usage', usage: full }, { kind: 'usage', usage: total });
    expect(answer.usage).toEqual(full);
  });

  it.each([
    [{ only: '一' }, '一'],
    [{ score: 1, answer: 'a', other: 'b' }, 'a'],
    [{ one: 'a', two: 'b' }, '{"one":"a","two":"b"}'],
    [{}, '{}'],
  ])('reads the outputs %j of a workflow as %s', (outputs, expected) => {
    const finished: DifySignal = { kind: 'finished', status: 'succeeded', outputs, error: null };
    expect(answerOf('workflow', finished).answer.end).toMatchObject({
      output: { text: expected, data: outputs },
    });
  });
});
