import { TransportFault } from '../http-sse/transport-fault.js';
import { failureOf, RuntimeFault } from './failure-classification.js';
import { postAgain, type PostPolicy } from './post-again.js';

const POLICY: PostPolicy = {
  maxAttempts: 3,
  backoffMs: 1,
  mayPostAgain: ({ type }) => type === 'connect_failed',
};
const never = new AbortController().signal;

function posting(...outcomes: (Error | string)[]) {
  let posts = 0;
  const post = (): Promise<string> => {
    const outcome = outcomes[posts++] ?? 'ok';
    return outcome instanceof Error ? Promise.reject(outcome) : Promise.resolve(outcome);
  };
  return { post, count: () => posts };
}

const refused = new TransportFault('connect_failed', 'no');

describe('postAgain', () => {
  it('posts again while it may', async () => {
    const { post, count } = posting(refused, refused, 'third');
    expect(await postAgain(post, POLICY, never)).toBe('third');
    expect(count()).toBe(3);
  });

  it('stops at the limit', async () => {
    const { post, count } = posting(refused, refused, refused, refused);
    await expect(postAgain(post, POLICY, never)).rejects.toMatchObject({
      failure: { type: 'connect_failed' },
    });
    expect(count()).toBe(3);
  });

  it('does not post again what may have been accepted', async () => {
    const { post, count } = posting(new TransportFault('lost', 'gone'));
    await expect(postAgain(post, POLICY, never)).rejects.toMatchObject({
      failure: { type: 'outcome_unknown' },
    });
    expect(count()).toBe(1);
  });

  it('does not post again once it is cancelled', async () => {
    const cancel = new AbortController();
    const { post, count } = posting(new RuntimeFault(failureOf('connect_failed', 'no')));
    const posted = postAgain(post, { ...POLICY, backoffMs: 10_000 }, cancel.signal);
    setImmediate(() => {
      cancel.abort(new TransportFault('aborted', 'enough'));
    });
    await expect(posted).rejects.toMatchObject({ kind: 'aborted' });
    expect(count()).toBe(1);
  });
});
