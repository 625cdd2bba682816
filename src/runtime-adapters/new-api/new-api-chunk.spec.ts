import fc from 'fast-check';
import { cleanChunk } from './new-api-chunk.js';
import { errorIn } from './new-api-failure.js';

describe('cleanChunk', () => {
  it('keeps what a reader needs and drops what a channel adds', () => {
    const chunk = {
      id: 'c',
      system_fingerprint: null,
      choices: [
        {
          index: 0,
          delta: { role: 'assistant', content: 'a', custom: [] },
          logprobs: {},
          finish_reason: null,
        },
      ],
      usage: null,
    };
    expect(cleanChunk(chunk)).toEqual({
      id: 'c',
      choices: [{ index: 0, delta: { content: 'a' }, finish_reason: null }],
    });
  });

  it.each([
    [[], []],
    [null, []],
    ['nonsense', []],
    [[null, 1], []],
  ])('reads choices %j as %j', (choices, expected) => {
    expect(cleanChunk({ choices })?.choices).toEqual(expected);
  });

  it('reads a content of parts, and arguments that are an object', () => {
    const delta = {
      content: [{ type: 'text', text: 'a' }, { type: 'image_url' }, { type: 'text', text: 'b' }],
      tool_calls: [{ id: 't', function: { name: 'f', arguments: { x: 1 } } }],
    };
    expect(cleanChunk({ choices: [{ delta }] })?.choices[0]?.delta).toEqual({
      content: 'ab',
      tool_calls: [{ index: 0, id: 't', type: 'function', function: { name: 'f', arguments: '{"x":1}' } }],
    });
  });

  it('leaves out counts that are none', () => {
    const usage = { prompt_tokens: -1, completion_tokens: 1.5, total_tokens: '3' };
    expect(cleanChunk({ usage })?.usage).toEqual({
      prompt_tokens: null,
      completion_tokens: null,
      total_tokens: null,
    });
  });

  it.each([null, [], 'x', 1, {}, { object: 'error' }])('is no chunk: %j', (value) => {
    expect(cleanChunk(value)).toBeNull();
  });

  it('never throws, whatever a frame is', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        cleanChunk({ choices: [{ delta: value, message: value }], usage: value });
        cleanChunk({ choices: value });
        errorIn({ error: value });
        return true;
      }),
    );
  });
});
