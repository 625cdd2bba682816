import { MAX_FRAME_CHARS, readEvents, type StreamItem } from './read-events.js';
import type { ProviderAnswer } from './send-to-provider.js';
import { TransportFault } from './transport-fault.js';

interface Read {
  items: StreamItem[];
  progress: number;
}

async function read(chunks: readonly (string | Buffer)[], contentType = 'text/event-stream'): Promise<Read> {
  let progress = 0;
  const answer: ProviderAnswer = {
    status: 200,
    headers: {},
    contentType,
    chunks: (async function* () {
      for (const chunk of chunks) yield await Promise.resolve(Buffer.from(chunk));
    })(),
    close: () => undefined,
  };
  const items: StreamItem[] = [];
  for await (const item of readEvents(answer, { progress: () => progress++ })) items.push(item);
  return { items, progress };
}

async function frames(chunks: readonly (string | Buffer)[]): Promise<string[]> {
  return (await read(chunks)).items.flatMap((item) => (item.kind === 'frame' ? [item.data] : []));
}

const STREAM = Buffer.from(
  'event: ping\n\n: hi\n\ndata: {"a":"é你🌊"}\r\n\r\nid: 7\nevent: x\ndata: 1\ndata: 2\n\n',
);
const DATA = ['{"a":"é你🌊"}', '1\n2'];

describe('readEvents', () => {
  it('gives the same frames wherever two chunks meet, also within a character', async () => {
    for (let at = 0; at <= STREAM.length; at++) {
      expect(await frames([STREAM.subarray(0, at), STREAM.subarray(at)])).toEqual(DATA);
    }
  });

  it('gives the same frames a byte at a time', async () => {
    expect(await frames(Array.from(STREAM, (_byte, at) => STREAM.subarray(at, at + 1)))).toEqual(DATA);
  });

  it('names the event of a frame', async () => {
    expect((await read(['event: x\ndata: 1\n\n'])).items).toEqual([{ kind: 'frame', event: 'x', data: '1' }]);
  });

  it('takes a bare ping and a comment for signs of life', async () => {
    const { items, progress } = await read(['event: ping\n\n', ': PING\n\n', ':\n\n']);
    expect(items).toEqual([{ kind: 'heartbeat' }, { kind: 'heartbeat' }, { kind: 'heartbeat' }]);
    expect(progress).toBe(3);
  });

  it('takes a trickle for none', async () => {
    expect((await read(['d', 'a', 't', 'a'])).progress).toBe(0);
  });

  it('takes a long frame that goes on for one', async () => {
    expect((await read(['data: ', 'x'.repeat(2048), 'x'.repeat(2048)])).progress).toBe(2);
  });

  it('reads a last frame without its blank line when it is whole, and drops one that is cut', async () => {
    expect(await frames(['data: {"a":1}'])).toEqual(['{"a":1}']);
    expect(await frames(['data: {"a":'])).toEqual([]);
    expect(await frames(['data: [DONE]'])).toEqual(['[DONE]']);
  });

  it('skips a byte order mark', async () => {
    expect(await frames(['\uFEFFdata: 1\n\n'])).toEqual(['1']);
  });

  it.each(['text/event-stream', 'application/json', ''])(
    'sees one JSON text under "%s"',
    async (contentType) => {
      const { items } = await read(['\n {"error":', '"no"}'], contentType);
      expect(items).toEqual([{ kind: 'json', value: { error: 'no' } }]);
    },
  );

  it.each([
    ['HTML', ['  <html>'], 'text/event-stream', 'malformed'],
    ['what says it is HTML', ['data: 1\n\n'], 'text/html', 'malformed'],
    ['JSON that is cut', ['{"a":'], 'application/json', 'malformed'],
    [
      'a frame beyond its limit',
      ['data: ', 'x'.repeat(MAX_FRAME_CHARS), 'x'],
      'text/event-stream',
      'too_large',
    ],
    ['JSON beyond its limit', ['{"a":"', 'x'.repeat(MAX_FRAME_CHARS)], 'application/json', 'too_large'],
  ])('refuses %s', async (_what, chunks, contentType, kind) => {
    const refusal = read(chunks, contentType);
    await expect(refusal).rejects.toThrow(TransportFault);
    await expect(refusal).rejects.toMatchObject({ kind });
  });

  it('gives nothing for an empty stream', async () => {
    expect((await read([])).items).toEqual([]);
  });
});
