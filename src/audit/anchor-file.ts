import { createReadStream } from 'node:fs';
import { mkdir, open, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';

/** What the chain's newest entry was at some moment. */
export interface ChainHead {
  seq: number;
  hash: string;
}

/**
 * Heads of the audit chain outside the database (decision 48): one line `seq hash` per head, only ever appended.
 * Who cuts or rewrites the chain in the database does not change this file, so verification sees it. A file per
 * chain, so that a data folder used with another database raises no false alarm.
 */
export class AnchorFile {
  constructor(private readonly folder: string) {}

  path(chainId: string): string {
    return join(this.folder, `${chainId}.heads`);
  }

  /** Returns when the line is on disk. Lines of several processes do not mix: one short append each. */
  async add(chainId: string, head: ChainHead): Promise<void> {
    const path = this.path(chainId);
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const file = await open(path, 'a', 0o600);
    try {
      await file.appendFile(`${head.seq} ${head.hash}\n`);
      await file.datasync();
    } finally {
      await file.close();
    }
  }

  /** Bytes written so far; 0 where there is no file. Pass it to `read` to see only what was there then. */
  async size(chainId: string): Promise<number> {
    try {
      return (await stat(this.path(chainId))).size;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0;
      throw error;
    }
  }

  /** The heads within the first `bytes`, oldest first. A line cut by a crash is left out. */
  async *read(chainId: string, bytes: number): AsyncIterable<ChainHead> {
    if (bytes === 0) return;
    const stream = createReadStream(this.path(chainId), { encoding: 'utf8', end: bytes - 1 });
    for await (const line of createInterface({ input: stream, crlfDelay: Infinity })) {
      const match = /^(\d{1,15}) ([0-9a-f]{64})$/.exec(line);
      if (match) yield { seq: Number(match[1]), hash: match[2] ?? '' };
    }
  }
}
