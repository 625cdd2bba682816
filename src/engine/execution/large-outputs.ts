import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { JsonObject } from '../../common/json/json-value.js';
import type { VisitRef } from '../../events/run-event.js';
import type { VisitedRun } from '../nodes/node-executor.js';

/** Folder of a workspace that holds outputs too large for the database. */
const FOLDER = '.outputs';

/** Keeps outputs up to a limit in the database; larger ones go to the workspace and are referenced. */
export class LargeOutputs {
  constructor(private readonly maxBytes = 10 * 1024 * 1024) {}

  /** Gives the data itself, or `{_outputFile, _bytes}` where it was written to a file. */
  async keep(run: VisitedRun, visit: VisitRef, data: JsonObject): Promise<JsonObject> {
    if (isSurelySmall(data)) return data;
    const text = JSON.stringify(data);
    const bytes = Buffer.byteLength(text);
    if (bytes <= this.maxBytes) return data;
    const file = `${FOLDER}/${visit.nodeId}-${visit.iterSeq}.json`;
    await mkdir(path.join(run.workspaceDir, FOLDER), { recursive: true });
    await writeFile(path.join(run.workspaceDir, file), text);
    return { _outputFile: file, _bytes: bytes };
  }
}

/** A few short values need no measuring; this is on the path of every visit. */
function isSurelySmall(data: JsonObject): boolean {
  const values = Object.values(data);
  return (
    values.length < 50 &&
    values.every((value) => (typeof value === 'string' ? value.length < 10_000 : typeof value !== 'object'))
  );
}
