import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import yazl from 'yazl';
import { errorCode } from '../../common/errors/error-code.js';
import type { WorkspaceFile } from '../../runs/workspaces/workspaces.js';

/** Fast rather than small: a download should wait for the network, not for the compressor. */
const COMPRESSION_LEVEL = 1;

/**
 * Streams the files as a zip into `target`: one file open at a time, none of it kept in memory, names UTF-8
 * flagged. A file that has gone since it was listed is left out. Rejects when a file cannot be read or the target
 * closes before the end; no file stays open.
 */
export async function zipWorkspace(
  directory: string,
  files: readonly WorkspaceFile[],
  target: Writable,
): Promise<void> {
  const zip = new yazl.ZipFile();
  const stopped = new AbortController();
  const sent = pipeline(zip.outputStream as Readable, target).catch((error: unknown) => {
    stopped.abort();
    throw error;
  });
  const added = addFiles(zip, directory, files, stopped.signal).catch((error: unknown) => {
    // Ends the answer without its central directory, so that the client sees a broken download, not a short one.
    (zip.outputStream as Readable).destroy(error as Error);
    throw error;
  });
  const [sending, adding] = await Promise.allSettled([sent, added]);
  if (adding.status === 'rejected' && !stopped.signal.aborted) throw adding.reason;
  if (sending.status === 'rejected') throw sending.reason;
  if (adding.status === 'rejected') throw adding.reason;
}

async function addFiles(
  zip: yazl.ZipFile,
  directory: string,
  files: readonly WorkspaceFile[],
  stopped: AbortSignal,
): Promise<void> {
  for (const { path: name, modifiedAt } of files) {
    stopped.throwIfAborted();
    const stream = await openFile(path.join(directory, name), stopped);
    if (stream === null) continue;
    zip.addReadStream(stream, name, {
      mtime: modifiedAt,
      mode: 0o100_644,
      compressionLevel: COMPRESSION_LEVEL,
    });
    await finished(stream);
  }
  zip.end();
}

/** Never through a symbolic link: a file may have been replaced since it was listed. Null when it has gone. */
async function openFile(file: string, signal: AbortSignal): Promise<Readable | null> {
  try {
    const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW);
    return handle.createReadStream({ signal });
  } catch (error) {
    if (['ENOENT', 'ELOOP'].includes(errorCode(error) ?? '')) return null;
    throw error;
  }
}
