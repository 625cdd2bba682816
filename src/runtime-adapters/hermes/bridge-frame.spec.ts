import { RuntimeFault } from '../protocol/failure-classification.js';
import { readBridgeFrame } from './bridge-frame.js';

describe('readBridgeFrame', () => {
  it('reads every event', () => {
    const read = (name: string, data: object): unknown => readBridgeFrame(name, JSON.stringify(data))?.data;
    expect(read('thinking', { text: 'x' })).toEqual({ text: 'x' });
    expect(read('tool_call', { call_id: 'c', tool: 't', args: { a: 1 } })).toEqual({
      call_id: 'c',
      tool: 't',
      args: { a: 1 },
    });
    expect(read('result', { text: 'x', data: { a: 1 } })).toEqual({ text: 'x', data: { a: 1 } });
    expect(read('usage', { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 })).toEqual({
      prompt_tokens: 1,
      completion_tokens: 2,
      total_tokens: 3,
    });
  });
  it('is tolerant of what a bridge in another language leaves out', () => {
    expect(readBridgeFrame('tool_result', '{"call_id":5,"tool":"t"}')?.data).toEqual({
      call_id: '5',
      tool: 't',
      result: null,
      error: null,
    });
    expect(readBridgeFrame('result', '{"text":"x"}')?.data).toEqual({ text: 'x', data: null });
    expect(readBridgeFrame('error', '{}')?.data).toEqual({
      code: 'error',
      message: 'the bridge gave no reason',
      retryable: false,
    });
  });
  it('keeps the digits of numbers that a double would change, as text', () => {
    expect(readBridgeFrame('result', '{"text":"x","data":{"id":1234567890123456789}}')?.data).toEqual({
      text: 'x',
      data: { id: '1234567890123456789' },
    });
    const call = '{"call_id":"c","tool":"t","args":[9007199254740993.0,1e400]}';
    expect(readBridgeFrame('tool_call', call)?.data).toMatchObject({ args: ['9007199254740993.0', '1e400'] });
  });
  it('says that a payload is nested too deep', () => {
    const deep = '['.repeat(5000) + ']'.repeat(5000);
    expect(() => readBridgeFrame('result', `{"text":"","data":{"a":${deep}}}`)).toThrow(
      /event result is malformed: it is nested deeper than 103 levels/,
    );
  });
  it.each([
    ['text', '{"text":5}', /event text is malformed: text: Invalid input: expected string, received number$/],
    ['tool_call', '{"call_id":"c"}', /event tool_call is malformed: tool: /],
    ['usage', '{"total_tokens":"many"}', /event usage is malformed: total_tokens: /],
    ['result', '{"data":[]}', /event result is malformed: data: must be an object$/],
    ['thinking', '[]', /event thinking is malformed: its data: /],
  ])('names the field of a %s that is wrong', (name, payload, message) => {
    expect(() => readBridgeFrame(name, payload)).toThrow(message);
  });
  it.each(['ping', 'constructor', '__proto__', null])('passes over the name %s', (name) => {
    expect(readBridgeFrame(name, '{}')).toBeNull();
  });
  it.each([
    ['text', 'no JSON'],
    ['text', '{"text":5}'],
    ['todo_update', '{"todos":{}}'],
    ['result', '{"data":[]}'],
  ])('refuses a %s that is %s', (name, payload) => {
    expect(() => readBridgeFrame(name, payload)).toThrow(RuntimeFault);
  });
});
