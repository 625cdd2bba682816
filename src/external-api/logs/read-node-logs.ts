import { Injectable } from '@nestjs/common';
import { NodeNotFoundError } from '../../engine/index.js';
import { toLogEntry, type LogEntry } from '../../events/log-entry.js';
import type { LogType } from '../../events/run-event.js';
import { RunEventStore } from '../../events/run-event-store.js';
import type { RunEntity } from '../../runs/run.entity.js';
import { VisitRepository } from '../../runs/visit.repository.js';
import { WorkflowRepository } from '../../workflows/index.js';

export interface NodeLogQuery {
  type?: LogType;
  /** UUID of a visit. */
  visit?: string;
  /** Exclusive. */
  after: number;
  limit: number;
}

export interface NodeLogEntry extends LogEntry {
  seq: number;
  visitUuid: string;
  iterSeq: number;
}

export interface NodeLogPage {
  items: NodeLogEntry[];
  /** `after` of the next page; null when this was the last one. */
  nextAfter: number | null;
}

/** Entries read at once, and payload characters after which a page ends early, so that memory stays bounded. */
const BATCH = 500;
const PAGE_CHARACTERS = 16 * 1024 * 1024;

/** Reads the log of one node of a run (decision 14). */
@Injectable()
export class ReadNodeLogs {
  constructor(
    private readonly events: RunEventStore,
    private readonly visits: VisitRepository,
    private readonly workflows: WorkflowRepository,
  ) {}

  async execute(run: RunEntity, nodeId: string, query: NodeLogQuery): Promise<NodeLogPage> {
    await this.#requireNode(run, nodeId);
    const items: NodeLogEntry[] = [];
    let characters = 0;
    let after = query.after;
    for (;;) {
      const wanted = Math.min(BATCH, query.limit - items.length);
      const filter = { nodeId, visitUuid: query.visit, logType: query.type, afterSeq: after };
      // One more than wanted tells whether there is a next page.
      const read = await this.events.readLogs(run.runId, filter, wanted + 1);
      for (const { seq, visitUuid, iterSeq, logType, payload } of read.slice(0, wanted)) {
        items.push({ seq, ...toLogEntry(logType, payload), visitUuid, iterSeq });
        characters += payload.length;
        after = seq;
      }
      if (read.length <= wanted) return { items, nextAfter: null };
      if (items.length >= query.limit || characters >= PAGE_CHARACTERS) return { items, nextAfter: after };
    }
  }

  async #requireNode(run: RunEntity, nodeId: string): Promise<void> {
    const definition = await this.workflows.findVersion(run.workflowId, run.workflowVersion);
    if (definition?.graphData.nodes.some(({ id }) => id === nodeId)) return;
    // Nodes inside iterations and the planner are known by their visits.
    const visits = await this.visits.ofRun(run.runId);
    if (!visits.some((visit) => visit.nodeId === nodeId)) throw new NodeNotFoundError(run.runId, nodeId);
  }
}
