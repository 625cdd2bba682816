import type { DataSource } from 'typeorm';
import { toLogEntry, type LogEntry } from '../../events/log-entry.js';
import type { RunEventStore } from '../../events/run-event-store.js';
import { findLineage } from '../paths/find-lineage.js';
import type { Lineage, VisitNode } from '../paths/visit-node.js';
import { ANSWERED_LOG_LIMITS, VisitLog } from '../visit-index/visit-log.js';

/** Rows of one read; a row may be long. */
const PAGE = 500;

/** Up to as many visits a run is read whole: one query is quicker than one a generation. */
const SMALL_RUN = 200;

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

  /** Null when the run has no such visit. */
  async lineage(runId: string, visitUuid: string): Promise<Lineage | null> {
    const nodes = await readVisitNodes(this.dataSource, runId, SMALL_RUN + 1);
    return nodes.length > SMALL_RUN ? this.#ancestors(runId, visitUuid) : lineageAmong(nodes, visitUuid);
  }

  /** Without what stands beside the ancestors: an iteration may have thousands of visits. */
  async #ancestors(runId: string, visitUuid: string): Promise<Lineage | null> {
    const visits = await this.dataSource.query<VisitNode[]>(
      // OFFSET 0 keeps the planner from reading the whole run for each generation.
      `WITH RECURSIVE lineage AS (
         SELECT ${COLUMNS} FROM visits WHERE visit_uuid = $2 AND run_id = $1 AND status <> 'SKIPPED'
         UNION
         SELECT earlier.* FROM lineage CROSS JOIN unnest(lineage.predecessors) AS before(uuid)
           CROSS JOIN LATERAL (SELECT ${COLUMNS} FROM visits
             WHERE visit_uuid = before.uuid AND run_id = $1 AND status <> 'SKIPPED' OFFSET 0) earlier
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
    return { entries: withLast(log.entries, lastTodo), truncated: true };
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

/** The entries in their order, with the last todo list behind them where it came after what is shown. */
function withLast(entries: readonly LogEntry[], lastTodo: LogEntry | null): readonly LogEntry[] {
  const shown = entries.findLast(({ type }) => type === 'TODO_UPDATE');
  if (!lastTodo || (shown?.timestamp === lastTodo.timestamp && shown.detail === lastTodo.detail))
    return entries;
  return [...entries.slice(0, ANSWERED_LOG_LIMITS.maxEntries - 1), lastTodo];
}

function lineageAmong(nodes: readonly VisitNode[], visitUuid: string): Lineage | null {
  const byUuid = new Map(nodes.map((node) => [node.visitUuid, node]));
  if (!byUuid.has(visitUuid)) return null;
  const { visits } = findLineage(visitUuid, (uuid) => byUuid.get(uuid));
  const firstVisits = new Map<string, number>();
  for (const { nodeId, sortOrder } of nodes) {
    if (!firstVisits.has(nodeId)) firstVisits.set(nodeId, sortOrder);
  }
  return { visits, firstVisits };
}

/** Every visit of a run by order of beginning, or the first of them; nodes that were skipped are none. */
export function readVisitNodes(dataSource: DataSource, runId: string, limit?: number): Promise<VisitNode[]> {
  return dataSource.query<VisitNode[]>(
    `SELECT ${NODE} FROM visits WHERE run_id = $1 AND status <> 'SKIPPED' ORDER BY sort_order LIMIT $2`,
    [runId, limit ?? null],
  );
}
