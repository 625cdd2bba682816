import { z } from 'zod';
import type { Credentials } from '../../credentials/index.js';
import { deadline } from '../../common/time/deadline.js';
import { readJson } from '../http-sse/read-body.js';
import { sendToProvider, type ProviderAnswer } from '../http-sse/send-to-provider.js';
import type { ReconciledUsage } from './runtime-call.entity.js';

/** Parts of a New-API credential that let its log be read: an access token and the id of its user. */
export const LOG_PARTS = { accessToken: 'accessToken', userId: 'userId' } as const;

const ANSWER_MILLIS = 10_000;

const entry = z.object({
  quota: z.number(),
  prompt_tokens: z.number(),
  completion_tokens: z.number(),
  use_time: z.number(),
});
/** `/api/*` answers failures with HTTP 200 too (facts of New-API). */
const answerSchema = z.object({
  success: z.literal(true),
  data: z.union([z.array(entry), z.object({ items: z.array(entry).nullable() })]),
});

/** Asks New-API's log what one request cost (agent-runtime-protocol.md §8). */
export class ReadNewApiLog {
  constructor(private readonly credentials: Pick<Credentials, 'resolve'>) {}

  /**
   * Null where the log does not know the request (yet). Throws CredentialError, TransportFault, and an error without
   * any of the answer's text for an answer that is none.
   */
  async execute(
    call: { credentialRef: string; agentKey: string | null; requestId: string },
    signal: AbortSignal,
  ): Promise<Omit<ReconciledUsage, 'at'> | null> {
    const { baseUrl, parts } = await this.credentials.resolve(call.credentialRef, {
      provider: 'new-api',
      agentKey: call.agentKey,
    });
    const url = new URL(`${baseUrl.replace(/\/v1$/, '')}/api/log/self`);
    url.searchParams.set('request_id', call.requestId);
    url.searchParams.set('type', '2');
    const { signal: within, close } = deadline(ANSWER_MILLIS, signal);
    const headers = {
      authorization: `Bearer ${parts[LOG_PARTS.accessToken] ?? ''}`,
      'new-api-user': parts[LOG_PARTS.userId] ?? '',
    };
    try {
      return await usageIn(await sendToProvider({ method: 'GET', url: url.href, headers }, within));
    } finally {
      close();
    }
  }
}

async function usageIn(answer: ProviderAnswer): Promise<Omit<ReconciledUsage, 'at'> | null> {
  const parsed = answerSchema.safeParse(await readJson(answer));
  if (answer.status !== 200 || !parsed.success) {
    throw new Error(`New-API's log answered ${answer.status} without log entries`);
  }
  const { data } = parsed.data;
  const [found] = Array.isArray(data) ? data : (data.items ?? []);
  if (!found) return null;
  return {
    quota: found.quota,
    promptTokens: found.prompt_tokens,
    completionTokens: found.completion_tokens,
    useTime: found.use_time,
  };
}
