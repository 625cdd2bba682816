import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { isLastEvent } from './event-frame.js';
import type { LogType, StreamEventType } from './run-event.js';

/** An event as stored; what a stream needs of it. */
export interface StoredStreamEvent {
  seq: number;
  type: StreamEventType;
  payload: string;
}

/** A stored event that is a log entry of a node. */
export interface StoredLogEvent {
  seq: number;
  nodeId: string;
  visitUuid: string;
  iterSeq: number;
  logType: LogType;
  at: Date;
  payload: string;
}

export interface LogFilter {
  nodeId?: string;
  visitUuid?: string;
  logType?: LogType;
  /** Exclusive. */
  afterSeq?: number;
}

/** Reads recorded events; writing them is the run journal's. */
@Injectable()
export class RunEventStore {
  constructor(private readonly dataSource: DataSource) {}

  /** At most `limit` events with a number above `afterSeq`, in order. One query. */
  readAfter(runId: string, afterSeq: number, limit: number): Promise<StoredStreamEvent[]> {
    return this.dataSource.query<StoredStreamEvent[]>(
      `SELECT seq, type, payload FROM run_events WHERE run_id = $1 AND seq > $2 ORDER BY seq LIMIT $3`,
      [runId, afterSeq, limit],
    );
  }

  /** The number of the newest event; 0 before the first. */
  async latestSeq(runId: string): Promise<number> {
    const [row] = await this.dataSource.query<{ seq: number }[]>(
      `SELECT coalesce(max(seq), 0)::integer AS seq FROM run_events WHERE run_id = $1`,
      [runId],
    );
    return row?.seq ?? 0;
  }

  /** Like `readAfter`, cut where the payloads pass `maxBytes`; the first event comes however large it is. */
  readPage(runId: string, afterSeq: number, limit: number, maxBytes: number): Promise<StoredStreamEvent[]> {
    return this.dataSource.query<StoredStreamEvent[]>(
      `SELECT seq, type, payload FROM (
         SELECT seq, type, payload, sum(octet_length(payload)) OVER (ORDER BY seq) - octet_length(payload) AS before
           FROM (SELECT seq, type, payload FROM run_events
                  WHERE run_id = $1 AND seq > $2 ORDER BY seq LIMIT $3) page) measured
        WHERE before < $4 ORDER BY seq`,
      [runId, afterSeq, limit, maxBytes],
    );
  }

  /** The number of the newest event (0 before the first) and whether it is the run's last. One snapshot. */
  async position(runId: string): Promise<{ seq: number; finished: boolean }> {
    const [row] = await this.dataSource.query<{ seq: number; type: StreamEventType }[]>(
      `SELECT seq, type FROM run_events WHERE run_id = $1 ORDER BY seq DESC LIMIT 1`,
      [runId],
    );
    return row ? { seq: row.seq, finished: isLastEvent(row.type) } : { seq: 0, finished: false };
  }

  /** The newest event; null before the first. */
  async lastOf(runId: string): Promise<StoredStreamEvent | null> {
    const [row] = await this.dataSource.query<StoredStreamEvent[]>(
      `SELECT seq, type, payload FROM run_events WHERE run_id = $1 ORDER BY seq DESC LIMIT 1`,
      [runId],
    );
    return row ?? null;
  }

  /** The numbers of the newest events of runs that have some. */
  async latestSeqs(runIds: readonly string[]): Promise<Map<string, number>> {
    const rows = await this.dataSource.query<{ runId: string; seq: number }[]>(
      `SELECT asked.run_id AS "runId", newest.seq
         FROM unnest($1::text[]) AS asked (run_id)
        CROSS JOIN LATERAL (SELECT seq FROM run_events e WHERE e.run_id = asked.run_id
                             ORDER BY seq DESC LIMIT 1) newest`,
      [runIds],
    );
    return new Map(rows.map(({ runId, seq }) => [runId, seq]));
  }

  /** At most `limit` log entries, in order. */
  readLogs(runId: string, filter: LogFilter, limit: number): Promise<StoredLogEvent[]> {
    return this.dataSource.query<StoredLogEvent[]>(
      `SELECT seq, node_id AS "nodeId", visit_uuid AS "visitUuid", iter_seq AS "iterSeq",
              log_type AS "logType", at, payload
         FROM run_events
        WHERE run_id = $1 AND log_type IS NOT NULL
          AND ($2::text IS NULL OR node_id = $2) AND ($3::uuid IS NULL OR visit_uuid = $3)
          AND ($4::text IS NULL OR log_type = $4) AND seq > $5
        ORDER BY seq LIMIT $6`,
      [
        runId,
        filter.nodeId ?? null,
        filter.visitUuid ?? null,
        filter.logType ?? null,
        filter.afterSeq ?? 0,
        limit,
      ],
    );
  }

  /** Number of log entries by node id. */
  async countLogs(runId: string): Promise<Map<string, number>> {
    const rows = await this.dataSource.query<{ nodeId: string; count: number }[]>(
      `SELECT node_id AS "nodeId", count(*)::integer AS count FROM run_events
        WHERE run_id = $1 AND log_type IS NOT NULL GROUP BY node_id`,
      [runId],
    );
    return new Map(rows.map(({ nodeId, count }) => [nodeId, count]));
  }
}
