import { agentData } from './agent.executor.js';
import { jsonAnswer } from './json-answer.js';
import { NodeFailure } from './node-failure.js';

describe('jsonAnswer', () => {
  it('keeps the digits of numbers that a double would change, as text', () => {
    expect(jsonAnswer('[1234567890123456789,9007199254740993e0,1e400,1.5]')).toEqual([
      '1234567890123456789',
      '9007199254740993e0',
      '1e400',
      1.5,
    ]);
    expect(jsonAnswer('no JSON')).toBeUndefined();
    const text = '{"id":-9007199254740993}';
    expect(agentData({ text, data: null })).toEqual({ text, id: '-9007199254740993' });
  });

  it('fails the node for what is nested too deep', () => {
    const text = `{"a":${'['.repeat(5000)}${']'.repeat(5000)}}`;
    expect(() => agentData({ text, data: null })).toThrow(NodeFailure);
    expect(() => jsonAnswer(text)).toThrow('the answer is nested deeper than 100 levels');
  });
});
