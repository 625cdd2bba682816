import type { VisitEntity } from '../../runs/visit.entity.js';
import type { JournalEntry } from '../../runs/journal/journal-entry.js';
import { StreamedText } from './streamed-text.js';
import { VisitBook } from './visit-book.js';

const stored = (sortOrder: number, nodeId: string, status: VisitEntity['status']): VisitEntity =>
  ({
    ...{
      sortOrder,
      nodeId,
      status,
      visitUuid: `uuid-${sortOrder}`,
      nodeType: 'agent',
      iterSeq: 1,
      predecessors: [],
    },
    ...{
      attempt: 2,
      tokens: 5,
      toolCalls: 1,
      envelope: null,
      errorCode: null,
      chosenHandle: null,
      waiting: null,
    },
  }) as unknown as VisitEntity;

describe('VisitBook.cancelForgotten', () => {
  it('ends what was open when the run was left and was not come to again', () => {
    const visits = [
      ...[stored(1, 'each', 'SUCCESS'), stored(2, 'each.a', 'RUNNING'), stored(3, 'each.b', 'WAITING')],
      ...[stored(4, 'each.c', 'SKIPPED'), stored(5, 'each.d', 'FAILED')],
    ];
    const book = new VisitBook({
      stored: visits,
      slots: 1,
      aborts: () => true,
      textOf: () => new StreamedText(1, () => undefined),
    });
    const entry: JournalEntry = { events: [], begun: [], changed: [] };
    book.cancelForgotten('the run was cancelled', entry);
    const rest = { attempt: 2, tokens: 5, toolCalls: 1, status: 'FAILED', errorCode: 'CANCELLED' };
    expect(entry.changed).toMatchObject([
      { sortOrder: 2, ...rest, envelope: { message: 'cancelled: the run was cancelled' } },
      { sortOrder: 3, ...rest },
    ]);
    expect(entry.events).toMatchObject([
      { kind: 'visit-ended', visit: { nodeId: 'each.a', visitUuid: 'uuid-2' }, status: 'FAILED' },
      { kind: 'visit-ended', visit: { nodeId: 'each.b', visitUuid: 'uuid-3' }, status: 'FAILED' },
    ]);
  });
});
