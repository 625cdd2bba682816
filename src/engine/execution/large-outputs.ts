import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { JsonObject, JsonValue } from '../../common/json/json-value.js';
import { orderedObject } from '../../common/json/ordered-object.js';
import type { VisitRef } from '../../events/run-event.js';
import type { VisitedRun } from '../nodes/node-executor.js';

/** Folder of a workspace that holds outputs too large for the database. */
export const OUTPUTS_FOLDER = '.outputs';

/** Keeps outputs up to a limit in the database; larger ones go to the workspace and are referenced. */
export class LargeOutputs {
  constructor(private readonly maxBytes = 10 * 1024 * 1024) {}

  /**
   * Gives the data itself, or `{_outputFile, _bytes}` where it was written to a file. Of an `output` node only values
   * are, the largest first: its fields are the run's outputs, which several such nodes give together.
   */
  async keep(run: VisitedRun, visit: VisitRef, data: JsonObject): Promise<JsonObject> {
    if (isSurelySmall(data)) return data;
    const text = JSON.stringify(data);
    const bytes = Buffer.byteLength(text);
    if (bytes <= this.maxBytes) return data;
    const name = `${visit.nodeId}-${visit.iterSeq}`;
    if (visit.nodeType === 'output') return this.#keepFields(run, name, data, bytes);
    return write(run, name, text, bytes);
  }

  /** Whether `keep` gives the data itself. */
  fits(data: JsonObject): boolean {
    return isSurelySmall(data) || Buffer.byteLength(JSON.stringify(data)) <= this.maxBytes;
  }

  async #keepFields(run: VisitedRun, name: string, data: JsonObject, bytes: number): Promise<JsonObject> {
    const fields = Object.entries(data).map(([key, value], at) => {
      const text = JSON.stringify(value);
      return { key, value, at, text, bytes: Buffer.byteLength(text) };
    });
    const kept = new Map<string, JsonValue>(Object.entries(data));
    let left = bytes;
    for (const field of [...fields].sort((a, b) => b.bytes - a.bytes)) {
      if (left <= this.maxBytes) break;
      const reference = await write(run, `${name}-${field.at + 1}`, field.text, field.bytes);
      kept.set(field.key, reference);
      left += JSON.stringify(reference).length - field.bytes;
    }
    return orderedObject(kept);
  }
}

async function write(run: VisitedRun, name: string, text: string, bytes: number): Promise<JsonObject> {
  const file = `${OUTPUTS_FOLDER}/${name}.json`;
  await mkdir(path.join(run.workspaceDir, OUTPUTS_FOLDER), { recursive: true });
  await writeFile(path.join(run.workspaceDir, file), text);
  return { _outputFile: file, _bytes: bytes };
}

/** A few short values need no measuring; this is on the path of every visit. */
function isSurelySmall(data: JsonObject): boolean {
  const values = Object.values(data);
  return (
    values.length < 50 &&
    values.every((value) => (typeof value === 'string' ? value.length < 10_000 : typeof value !== 'object'))
  );
}
