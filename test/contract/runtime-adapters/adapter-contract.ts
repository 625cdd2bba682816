import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AgentRuntimeRequest } from '../../../src/runtime-adapters/protocol/agent-runtime-request.js';
import { everyByte, htmlPage, json } from '../../support/providers/play.js';
import { CANARY, credentialsFor, hear, runtimeRequest, type AdapterHarness, type Heard } from './harness.js';

const SAID = ['Grüße, ', '你好 ', '🌊'];
const WHOLE = SAID.join('');
const QUICKLY = { timeoutPolicy: { totalSeconds: 0.4, idleSeconds: 0.2 } };

/** What every adapter must do, whatever its provider does. */
export function describeAdapterContract(harness: AdapterHarness): void {
  const { stub, ref, expected } = harness;

  function call(
    change: Partial<AgentRuntimeRequest> = {},
    signal = new AbortController().signal,
  ): Promise<Heard> {
    return hear(start(change, signal));
  }

  function start(change: Partial<AgentRuntimeRequest> = {}, signal = new AbortController().signal) {
    const { credentials, redactor } = credentialsFor(stub, ref.runtimeProvider);
    return harness.adapter(credentials, redactor).execute(runtimeRequest(ref, change), signal);
  }

  describe(`${harness.name}, as every runtime adapter`, () => {
    beforeAll(() => stub.start());
    beforeEach(() => {
      stub.reset();
    });
    afterAll(() => stub.close());

    describe('answers', () => {
      it('normalises a success', async () => {
        const { events, response, text } = await call();
        expect(text).toBe('Hello, world');
        expect(response).toMatchObject({
          status: 'succeeded',
          provider: ref.runtimeProvider,
          providerRequestId: expected.providerRequestId,
          output: { text: 'Hello, world' },
          outputSummary: 'Hello, world',
          finishReason: 'stop',
          traceability: 'none',
          failure: null,
        });
        expect(response.usage).toMatchObject({ ...expected.usage, durationMs: expect.any(Number) as number });
        const started = events.findIndex(({ type }) => type === 'runtime.started');
        const firstDelta = events.findIndex(({ type }) => type === 'runtime.delta');
        expect(started).toBeGreaterThanOrEqual(0);
        expect(started).toBeLessThan(firstDelta);
        expect(stub.posts).toBe(1);
      });

      it('sends what the envelope holds, the ids as trace headers, and nothing of the actor', async () => {
        await call();
        const [post] = stub.commands;
        const sent = JSON.stringify(post?.body);
        for (const part of [
          '写一首诗 about the sea',
          'It rained.',
          'The sea is salty.',
          'Four lines.',
          'You are brief.',
        ]) {
          expect(sent).toContain(part);
        }
        expect(sent).not.toContain('alice');
        expect(sent).not.toContain(CANARY);
        expect(post?.headers).toMatchObject({
          'x-command-id': '0b0e6a5e-7d0c-4c52-9d0a-1f1e1d1c1b1a:1',
          'x-correlation-id': 'run-1',
          authorization: `Bearer ${CANARY}`,
        });
      });

      it.each([
        ['split after every byte', everyByte(harness.frames(SAID))],
        ['in one piece', [harness.frames(SAID).join('')]],
        ['two frames a piece', pairs(harness.frames(SAID))],
        ['between bare pings and comments', harness.frames(SAID).flatMap((frame) => [PINGS, frame])],
        ['with CRLF line ends', harness.frames(SAID).map((frame) => frame.replaceAll('\n', '\r\n'))],
        ['without the last blank line', [harness.frames(SAID).join('').trimEnd()]],
        ['with its terminal frame twice', [...harness.frames(SAID), harness.frames(SAID).at(-1) ?? '']],
        [
          'with frames nobody knows',
          [
            'data: {"event":"novel","object":"novel","type":"NOVEL","choices":[]}\n\n',
            ...harness.frames(SAID),
          ],
        ],
      ])('reads a stream %s', async (_how, pieces) => {
        harness.stream({ pieces });
        const { response, text } = await call();
        expect(response).toMatchObject({ status: 'succeeded', output: { text: WHOLE } });
        expect(text).toBe(WHOLE);
      });

      it('reads a frame of 5 MB', async () => {
        const big = 'x'.repeat(5 * 1024 * 1024 - 4096);
        harness.stream({ pieces: [harness.frames([big]).join('')] });
        const { response } = await call();
        expect(response).toMatchObject({ status: 'succeeded' });
        expect(response.output?.text).toHaveLength(big.length);
      });

      it('refuses a frame beyond 5 MB', async () => {
        harness.stream({ pieces: [`data: ${'x'.repeat(6 * 1024 * 1024)}`], then: 'silence' });
        const { response } = await call();
        expect(response.failure).toMatchObject({
          type: 'provider_bad_response',
          code: 'too_large',
          retryable: false,
        });
      });
    });

    describe('refusals', () => {
      it.each([
        [401, 'auth_failed', false],
        [400, 'provider_bad_request', false],
        [404, 'provider_bad_request', false],
        [302, 'provider_bad_response', false],
        [500, 'provider_5xx', expected.serverError.retryable],
        [503, 'provider_5xx', expected.serverError.retryable],
      ])('%i is %s', async (status, type, retryable) => {
        harness.refuse(
          json(status, { message: 'no', code: 'x' }),
          json(status, { message: 'no', code: 'x' }),
        );
        const { response } = await call();
        expect(response).toMatchObject({
          status: retryable ? 'retryable_failed' : 'failed',
          output: null,
          finishReason: 'error',
          failure: { type, httpStatus: status, retryable },
        });
        expect(stub.posts).toBe(retryable ? expected.serverError.posts : 1);
      });

      it('an HTML page of a gateway is no answer and is not quoted', async () => {
        harness.refuse(htmlPage(504), htmlPage(504));
        const { response } = await call();
        expect(response.failure).toMatchObject({ type: 'provider_5xx', httpStatus: 504 });
        expect(response.failure?.message).not.toMatch(/DOCTYPE|nginx/);
      });

      it('an HTML page with status 200 is a bad response, whatever it says it is', async () => {
        const page = htmlPage(200);
        for (const contentType of ['text/html', 'text/event-stream']) {
          harness.stream({ ...page, headers: { 'content-type': contentType } });
          const { response } = await call();
          expect(response.failure).toMatchObject({ type: 'provider_bad_response', retryable: false });
        }
      });

      it('an error inside a 200 stream is no success', async () => {
        harness.stream({
          pieces: [...harness.begun(SAID), harness.errorFrame('it broke')],
        });
        const { response } = await call();
        expect(response).toMatchObject({
          output: null,
          failure: { type: expected.errorFrame, retryable: false },
        });
        expect(response.failure?.message).toContain('it broke');
      });

      it('a compressed answer is refused', async () => {
        harness.stream({ headers: { 'content-encoding': 'gzip' }, pieces: [Buffer.from([31, 139])] });
        expect((await call()).response.failure).toMatchObject({ type: 'provider_bad_response' });
      });

      it('follows no redirect, so that the credential goes nowhere else', async () => {
        let asked = 0;
        const elsewhere = createServer((_request, response) => {
          asked++;
          response.end();
        }).listen(0, '127.0.0.1');
        await once(elsewhere, 'listening');
        const { port } = elsewhere.address() as AddressInfo;
        harness.refuse({ status: 307, headers: { location: `http://127.0.0.1:${String(port)}/` } });
        const { response } = await call();
        elsewhere.close();
        expect(response.failure).toMatchObject({ type: 'provider_bad_response', httpStatus: 307 });
        expect(asked).toBe(0);
      });
    });

    describe('broken ways', () => {
      it('posts again where there was no connection, and says so when none comes', async () => {
        const { credentials, redactor } = credentialsFor(stub, ref.runtimeProvider, {
          baseUrl: await deadAddress(),
        });
        const adapter = harness.adapter(credentials, redactor);
        const { response } = await hear(adapter.execute(runtimeRequest(ref), new AbortController().signal));
        expect(response).toMatchObject({
          status: 'retryable_failed',
          failure: { type: 'connect_failed', retryable: true, httpStatus: null },
        });
      });

      it('a connection reset before the answer is posted again only where nothing can be running', async () => {
        // More than any adapter posts within the deadline, whatever its pauses draw.
        for (let again = 0; again < 6; again++) {
          harness.refuse({ instead: 'reset' });
          harness.stream({ instead: 'reset' });
        }
        const { response } = await call(QUICKLY);
        expect(response.output).toBeNull();
        expect(response.failure?.retryable).toBe(expected.lostStream.retryable);
        if (!expected.lostStream.retryable) expect(stub.posts).toBe(1);
      });

      it.each([
        ['ends before its terminal frame', harness.begun(SAID), 'end'],
        ['is reset before its terminal frame', harness.begun(SAID), 'reset'],
        ['is reset inside a frame', [...harness.begun(SAID), 'data: {"eve'], 'reset'],
        ['ends inside a frame', [...harness.begun(SAID), 'data: {"eve'], 'end'],
        ['is reset after its headers', [], 'reset'],
        ['ends after its headers', [], 'end'],
      ] as const)('a stream that %s is no success', async (_how, pieces, then) => {
        for (let again = 0; again < 6; again++) harness.stream({ pieces, then });
        const { response } = await call();
        expect(response).toMatchObject({
          status: expected.lostStream.retryable ? 'retryable_failed' : 'failed',
          output: null,
          failure: expected.lostStream,
        });
        expect(stub.posts).toBe(1);
      });

      it.each([
        ['never answers', { instead: 'silence' }],
        ['answers with headers only', { then: 'silence' }],
        ['falls silent', { pieces: harness.begun(SAID), then: 'silence' }],
        ['trickles (slow loris)', { pieces: harness.begun(SAID), then: 'trickle' }],
        ['shows signs of life for ever', { pieces: harness.begun(SAID), then: 'pings' }],
      ] as const)('a provider that %s misses its deadline', async (_how, play) => {
        harness.stream(play);
        const startedAt = performance.now();
        const { response } = await call(QUICKLY);
        expect(response.failure?.type).toBe('network_timeout');
        expect(response.output).toBeNull();
        expect(performance.now() - startedAt).toBeLessThan(3_000);
      });

      it('a trickle of an error body misses its deadline too', async () => {
        harness.refuse({ status: 400, pieces: ['{"message":'], then: 'trickle' });
        const { response } = await call(QUICKLY);
        expect(response.status).toBe('failed');
      });
    });

    describe('cancellation', () => {
      it('before anything left sends nothing', async () => {
        const cancel = new AbortController();
        cancel.abort();
        const { response } = await call({}, cancel.signal);
        expect(response).toMatchObject({ status: 'cancelled', finishReason: 'cancelled', failure: null });
        expect(stub.requests).toHaveLength(0);
      });

      it('reaches the provider while it streams', async () => {
        harness.stream({ pieces: harness.begun(SAID), then: 'silence' });
        const cancel = new AbortController();
        const { response } = await hear(start({}, cancel.signal), (event) => {
          if (event.type === 'runtime.started') cancel.abort();
        });
        if (expected.cancel === 'cancelled') expect(response.status).toBe('cancelled');
        else expect(response.failure?.type).toBe('outcome_unknown');
        const { response: streamed } = stub.requests.find(({ response: one }) => one.headersSent) ?? {};
        if (!streamed?.closed) await once(streamed as NodeJS.EventEmitter, 'close');
        expect(stub.posts).toBe(1);
      });
    });

    describe('secrets', () => {
      it('are in no output, although the provider repeats them everywhere', async () => {
        harness.stream({
          pieces: harness.frames(['your key is ', CANARY.slice(0, 9), CANARY.slice(9), ', right?']),
        });
        const { response } = await call();
        expect(response.output?.text).toBe('your key is [redacted], right?');
      });

      it.each([
        [
          'an error frame',
          () => {
            harness.stream({ pieces: [harness.errorFrame(`bad key ${CANARY}`)] });
          },
        ],
        [
          'a refusal',
          () => {
            harness.refuse(
              json(401, { message: `bad key ${CANARY}`, code: CANARY, error: { message: CANARY } }),
            );
          },
        ],
        [
          'a JSON error under 200',
          () => {
            harness.stream(json(200, { error: { message: CANARY }, message: CANARY, code: CANARY }));
          },
        ],
      ])('are not in what %s says', async (_where, prepare) => {
        prepare();
        const { response } = await call(QUICKLY);
        expect(response.failure).not.toBeNull();
      });
    });

    if (expected.namesCredential)
      describe('credentials', () => {
        it.each([
          ['without a value', { env: 'UNSET' }, 'runtime_unavailable', 'credentials.c'],
          ['of another provider', { provider: 'other' }, 'runtime_unavailable', 'credentials.c.provider'],
          ['out of scope', { scope: ['somebody-else'] }, 'permission_denied', 'credentials.c.scope'],
          ['without a base URL', { baseUrl: undefined }, 'runtime_unavailable', 'credentials.c.baseUrl'],
        ])('%s fail closed and name the key', async (_what, change, type, key) => {
          const { credentials, redactor } = credentialsFor(stub, ref.runtimeProvider, change);
          const adapter = harness.adapter(credentials, redactor);
          const { response } = await hear(adapter.execute(runtimeRequest(ref), new AbortController().signal));
          expect(response).toMatchObject({ status: 'failed', failure: { type, retryable: false } });
          expect(response.failure?.message).toContain(key);
          expect(stub.requests).toHaveLength(0);
        });
      });

    describe('sources', () => {
      const required = { traceabilityPolicy: { requireSourceRefs: true } };

      it('are proved only by references that were sent', async () => {
        harness.stream({ pieces: harness.frames(['Salt [[kb-7]], rain [[chapter-1]].']) });
        expect((await call(required)).response).toMatchObject({
          status: 'succeeded',
          traceability: 'muse_source_refs',
        });
      });

      it.each(['No source at all.', 'Salt [[kb-7]], gold [[kb-999]].'])('fail closed: %s', async (text) => {
        harness.stream({ pieces: harness.frames([text]) });
        const { response } = await call(required);
        expect(response).toMatchObject({
          status: 'failed',
          output: null,
          failure: { type: 'provider_bad_response', code: 'source_refs_missing' },
        });
      });
    });
  });
}

const PINGS = 'event: ping\n\n: PING\n\n:\n\n';

function pairs(frames: readonly string[]): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < frames.length; at += 2) pieces.push(frames.slice(at, at + 2).join(''));
  return pieces;
}

/** An address at which nobody listens any more. */
async function deadAddress(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return `http://127.0.0.1:${String(port)}`;
}
