import type { DataSource } from 'typeorm';
import { toLogEntry, type LogEntry } from '../../events/log-entry.js';
import type { RunEventStore } from '../../events/run-event-store.js';
import type { Lineage, VisitNode } from '../paths/visit-node.js';
import { ANSWERED_LOG_LIMITS, VisitLog } from '../visit-index/visit-log.js';

/** Rows of one read; a row may be long. */
const PAGE = 500;

const COLUMNS = 'visit_uuid, node_id, iter_seq, sort_order, predecessors, status';
/** A `VisitNode` of those columns. */
const NODE = `visit_uuid AS "visitUuid", node_id AS "nodeId", iter_seq AS "iterSeq", sort_order AS "sortOrder",
  predecessors, status IN ('SUCCESS', 'FAILED') AS finished`;

/** A visit's log as the database gives it. */
export interface RecordedLogs {
  readonly entries: readonly LogEntry[];
  /** The log is longer than an answer may be: its beginning and its last todo list are there. */
  readonly truncated: boolean;
}

/** Answers from the database what the visit index does not hold. */
export class VisitRecords {
  constructor(
    private readonly dataSource: DataSource,
    private readonly events: RunEventStore,
  ) {}

  /** Null when the run has no such visit. Reads the ancestors only: a run may have thousands of visits beside them. */
  async lineage(runId: string, visitUuid: string): Promise<Lineage | null> {
    const visits = await this.dataSource.query<VisitNode[]>(
      `WITH RECURSIVE lineage AS (
         SELECT ${COLUMNS} FROM visits WHERE visit_uuid = $2 AND run_id = $1 AND status <> 'SKIPPED'
         UNION
         SELECT ${COLUMNS} FROM visits
           JOIN (SELECT unnest(lineage.predecessors) AS uuid FROM lineage) before ON visit_uuid = before.uuid
          WHERE run_id = $1 AND status <> 'SKIPPED'
       ) SELECT ${NODE} FROM lineage ORDER BY sort_order`,
      [runId, visitUuid],
    );
    if (visits.length === 0) return null;
    const firstVisits = await this.#firstVisits(runId, [...new Set(visits.map(({ nodeId }) => nodeId))]);
    return { visits, firstVisits };
  }

  async #firstVisits(runId: string, nodeIds: readonly string[]): Promise<Map<string, number>> {
    const rows = await this.dataSource.query<{ nodeId: string; first: number }[]>(
      `SELECT node_id AS "nodeId", min(sort_order) AS first FROM visits
        WHERE run_id = $1 AND node_id = ANY($2) AND status <> 'SKIPPED' GROUP BY node_id`,
      [runId, nodeIds],
    );
    return new Map(rows.map(({ nodeId, first }) => [nodeId, first]));
  }

  /** JSON text; null before the visit has ended. */
  async envelope(runId: string, { sortOrder }: VisitNode): Promise<string | null> {
    const [row] = await this.dataSource.query<{ envelope: string | null }[]>(
      `SELECT envelope::text AS envelope FROM visits WHERE run_id = $1 AND sort_order = $2`,
      [runId, sortOrder],
    );
    return row?.envelope ?? null;
  }

  async logs(runId: string, { visitUuid, nodeId }: VisitNode): Promise<RecordedLogs> {
    const log = new VisitLog(ANSWERED_LOG_LIMITS);
    for (let afterSeq = 0, page = PAGE; page === PAGE && !log.full;) {
      const rows = await this.events.readLogs(runId, { nodeId, visitUuid, afterSeq }, PAGE);
      for (const { logType, payload } of rows) log.append(toLogEntry(logType, payload));
      afterSeq = rows.at(-1)?.seq ?? afterSeq;
      page = rows.length;
    }
    if (!log.full) return { entries: log.entries, truncated: false };
    const lastTodo = await this.#lastTodo(runId, visitUuid, nodeId);
    const entries = log.entries.filter(({ type }) => type !== 'TODO_UPDATE');
    return { entries: lastTodo ? [...entries, lastTodo] : entries, truncated: true };
  }

  async #lastTodo(runId: string, visitUuid: string, nodeId: string): Promise<LogEntry | null> {
    const [row] = await this.dataSource.query<{ payload: string }[]>(
      `SELECT payload FROM run_events
        WHERE run_id = $1 AND node_id = $2 AND visit_uuid = $3 AND log_type = 'TODO_UPDATE'
        ORDER BY seq DESC LIMIT 1`,
      [runId, nodeId, visitUuid],
    );
    return row ? toLogEntry('TODO_UPDATE', row.payload) : null;
  }
}

/** Every visit of a run by order of beginning; nodes that were skipped are none. */
export function readVisitNodes(dataSource: DataSource, runId: string): Promise<VisitNode[]> {
  return dataSource.query<VisitNode[]>(
    `SELECT ${NODE} FROM visits WHERE run_id = $1 AND status <> 'SKIPPED' ORDER BY sort_order`,
    [runId],
  );
}
