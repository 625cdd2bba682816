import { copyFile, lstat, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { errorCode } from '../../common/errors/error-code.js';
import type { JsonObject, JsonValue } from '../../common/json/json-value.js';
import { orderedObject } from '../../common/json/ordered-object.js';
import { OUTPUTS_FOLDER } from './large-outputs.js';

/** Such as `.outputs/out-1.json`; an agent may write `_outputFile` too, with any path. */
const OUTPUT_FILE = /^\.outputs((?:\/[A-Za-z][A-Za-z0-9_.-]*)+\.json)$/;

/**
 * What a child run left, for its parent: files of large outputs that it names are copied from the child's workspace to
 * the parent's, below `.outputs/{folder}`, and named as they lie there. A name that no file belongs to stays as it is.
 */
export async function takeOverFiles(
  outputs: JsonObject,
  from: string,
  to: { readonly workspaceDir: string; readonly folder: string },
): Promise<JsonObject> {
  const names = new Set<string>();
  collect(outputs, names);
  const taken = new Map<string, string>();
  for (const name of names) {
    const target = OUTPUT_FILE.exec(name)?.[1];
    if (target === undefined || !(await isFile(path.join(from, name)))) continue;
    const copy = `${OUTPUTS_FOLDER}/${to.folder}${target}`;
    await mkdir(path.dirname(path.join(to.workspaceDir, copy)), { recursive: true });
    await copyFile(path.join(from, name), path.join(to.workspaceDir, copy));
    taken.set(name, copy);
  }
  return taken.size === 0 ? outputs : (renamed(outputs, taken) as JsonObject);
}

function collect(value: JsonValue, names: Set<string>): void {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value) && typeof value._outputFile === 'string') names.add(value._outputFile);
  for (const one of Object.values(value)) collect(one, names);
}

function renamed(value: JsonValue, taken: ReadonlyMap<string, string>): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((one) => renamed(one, taken));
  return orderedObject(
    Object.entries(value).map(([key, one]): [string, JsonValue] => {
      const name = key === '_outputFile' && typeof one === 'string' ? taken.get(one) : undefined;
      return [key, name ?? renamed(one, taken)];
    }),
  );
}

async function isFile(file: string): Promise<boolean> {
  try {
    return (await lstat(file)).isFile();
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return false;
    throw error;
  }
}
