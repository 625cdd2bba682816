import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { readAnswer } from '../../common/json/read-answer.js';
import { JsonTextError, MAX_ANSWER_DEPTH } from '../../common/json/read-json.js';
import { deadline } from '../../common/time/deadline.js';
import { maskSecrets } from '../mask-secrets.js';
import type { BridgeContextQuery } from '../protocol.js';
import { ToolError } from './bridge-tool.js';
import { cutText } from './cap-field.js';
import { loopbackUrl } from './loopback-url.js';

export type ContextQueryKind = 'path' | 'output' | 'meta';

/** Asks one of the three endpoints and gives the answer's `data`, unread and untrusted. */
export type AskContext = (
  kind: ContextQueryKind,
  body: Record<string, unknown>,
  signal: AbortSignal,
) => Promise<unknown>;

export interface ContextClientLimits {
  /** One request, from connecting to the last byte (§9.2: at most 5 s). */
  readonly timeoutMillis: number;
  /** Wait before the one further try, plus up to as much again at random. */
  readonly backoffMillis: number;
  readonly maxResponseBytes: number;
}

const LIMITS: ContextClientLimits = {
  timeoutMillis: 5_000,
  backoffMillis: 200,
  maxResponseBytes: 8 * 1024 ** 2,
};

/** Of a refusal's message, such as the keys that a node's output has. */
const MESSAGE_BYTES = 1_000;

/** What nodes answered, and the envelope around it. */
const MAX_DEPTH = MAX_ANSWER_DEPTH + 20;

/** Headers by which a hostile server could steer a client (§9.2); an answer that has one is dropped unread. */
const FORBIDDEN_HEADERS = ['set-cookie', 'location'];

/** Node hands on this many names and values at most and drops the rest. */
const SEEN_ENTIRELY = 2_000;

// node:http and an agent of its own rather than fetch: it knows no redirects, no cookies and no proxy variables.
const agent = new Agent({ keepAlive: true, maxSockets: 32 });

/**
 * Makes the client of one visit, or null when its base URL is not on this machine. The token lives in this
 * closure only and goes into one header; no error carries it (internal-context-query.md §9.1).
 */
export function contextClient(
  query: BridgeContextQuery,
  limits: ContextClientLimits = LIMITS,
): AskContext | null {
  const base = loopbackUrl(query.base_url);
  if (!base) return null;
  const { token } = query;
  const prefix = base.pathname.replace(/\/+$/, '');

  return async (kind, body, signal) => {
    const url = new URL(`${prefix}/internal/context/${kind}`, base);
    const once = (): Promise<Answer> =>
      post(url, { token, body: JSON.stringify(body), limits, signal }).catch((error: unknown) => {
        signal.throwIfAborted();
        if (error instanceof ToolError) throw error;
        throw new TransientError(error instanceof Error ? error.message : 'unknown reason');
      });
    try {
      return readEnvelope(await withOneRetry(once, limits.backoffMillis, signal));
    } catch (error) {
      if (error instanceof TransientError) {
        throw new ToolError(`the context query failed: ${maskSecrets(error.message, [token])}`);
      }
      throw error;
    }
  };
}

interface Answer {
  status: number;
  text: string;
}

/** A failure after which the same request may succeed: no answer, or one of a server in trouble. */
class TransientError extends Error {}

async function withOneRetry(
  once: () => Promise<Answer>,
  backoffMillis: number,
  signal: AbortSignal,
): Promise<Answer> {
  const first = await once().then(
    (answer) => (isTrouble(answer.status) ? new TransientError(`it answered ${answer.status}`) : answer),
    (error: unknown) => {
      if (error instanceof TransientError) return error;
      throw error;
    },
  );
  if (!(first instanceof TransientError)) return first;
  await delay(backoffMillis * (1 + Math.random()), undefined, { signal });
  return once();
}

function isTrouble(status: number): boolean {
  // 503 says that the feature is off, which a second request does not change.
  return status === 429 || (status >= 500 && status !== 503);
}

function readEnvelope({ status, text }: Answer): unknown {
  let body: unknown;
  try {
    // Digits that a number would lose are handed on as text.
    body = readAnswer(text, MAX_DEPTH);
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    throw new ToolError(error.saidOf("the context query's answer"));
  }
  if (body === undefined) throw new ToolError(`the context query was answered with ${status} and no JSON`);
  if (typeof body !== 'object' || body === null || !('data' in body)) {
    throw new ToolError(`the context query was answered with ${status} and no data`);
  }
  const code = 'code' in body ? body.code : undefined;
  if (status === 200 && code === 200) return body.data;
  const said =
    'message' in body && typeof body.message === 'string' ? `: ${cutText(body.message, MESSAGE_BYTES)}` : '';
  throw new ToolError(`the context query was answered with ${status}${said}`);
}

function post(
  url: URL,
  options: { token: string; body: string; limits: ContextClientLimits; signal: AbortSignal },
): Promise<Answer> {
  const { token, body, limits, signal } = options;
  const time = deadline(limits.timeoutMillis, signal);
  return new Promise<Answer>((resolve, reject) => {
    const fail = (error: Error): void => {
      reject(time.hasPassed() ? new Error('it took too long') : error);
    };
    const request = httpRequest(
      url,
      {
        method: 'POST',
        agent,
        signal: time.signal,
        headers: {
          'Content-Type': 'application/json',
          'Content-Length': Buffer.byteLength(body),
          'X-Context-Token': token,
        },
      },
      (response) => {
        const forbidden = forbiddenHeader(response);
        if (forbidden) {
          response.destroy();
          reject(new ToolError(`the context query's answer was dropped: it has ${forbidden}`));
          return;
        }
        readText(response, limits.maxResponseBytes).then(
          (text) => resolve({ status: response.statusCode ?? 0, text }),
          fail,
        );
      },
    );
    request.on('error', fail);
    request.end(body);
  }).finally(time.close);
}

/** Why an answer is dropped for its headers. */
function forbiddenHeader({ headers, rawHeaders }: IncomingMessage): string | undefined {
  if (rawHeaders.length >= SEEN_ENTIRELY) return 'so many headers that not all are seen';
  const name = FORBIDDEN_HEADERS.find((forbidden) => headers[forbidden] !== undefined);
  return name && `a ${name} header`;
}

async function readText(response: IncomingMessage, limit: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limit) {
      throw new ToolError(`the answer is larger than ${limit} bytes; ask for one field or one kind`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
