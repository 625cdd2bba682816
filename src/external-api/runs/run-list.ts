import { z } from 'zod';
import { ValidationError } from '../../common/errors/domain-error.js';
import type { RunStatus, RunStatusReason } from '../../runs/run-status.js';
import type { RunEntity } from '../../runs/run.entity.js';
import type { RunCursor } from '../../runs/run.repository.js';

/** `data` of the list of runs (contract.md): newest first. */
export interface RunList {
  items: RunListItem[];
  /** `cursor` of the next page; null when this was the last one. */
  nextCursor: string | null;
}

export interface RunListItem {
  runId: string;
  status: RunStatus;
  statusReason: RunStatusReason | null;
  createdAt: Date;
  startedAt: Date | null;
  completedAt: Date | null;
}

/** `runs` holds one more than `limit` where there is a next page. */
export function runList(runs: readonly RunEntity[], limit: number): RunList {
  const shown = runs.slice(0, limit);
  const last = shown.at(-1);
  return {
    items: shown.map(({ runId, status, statusReason, createdAt, startedAt, completedAt }) => ({
      runId,
      status,
      statusReason,
      createdAt,
      startedAt,
      completedAt,
    })),
    nextCursor: runs.length > limit && last ? encodeCursor(last) : null,
  };
}

/** Opaque to clients: where the last page ended. */
export function encodeCursor({ createdAt, runId }: RunCursor): string {
  return Buffer.from(JSON.stringify([createdAt.getTime(), runId])).toString('base64url');
}

const cursorContent = z.tuple([z.number().int().min(0).max(8.64e15), z.string().regex(/^[a-z0-9_-]{1,64}$/)]);

export function decodeCursor(text: string): RunCursor {
  let content: unknown;
  try {
    content = JSON.parse(Buffer.from(text, 'base64url').toString());
  } catch {
    content = undefined;
  }
  const parsed = cursorContent.safeParse(content);
  if (!parsed.success) {
    throw ValidationError.ofFields([{ field: 'cursor', message: 'is not a cursor of an earlier answer' }]);
  }
  const [createdAt, runId] = parsed.data;
  return { createdAt: new Date(createdAt), runId };
}
