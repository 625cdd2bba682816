import type { FileHandle } from 'node:fs/promises';
import { z } from 'zod';
import { defineTool, type BridgeTool } from './bridge-tool.js';
import type { Workspace } from './workspace.js';

/** Bytes handed over by one call. */
export const READ_BYTES = 256 * 1024;

/**
 * Reads a file as UTF-8, at most 256 KiB at a time; `nextOffset` says where to go on. A file that is not text is
 * told as such instead of being shown.
 */
export function readFileTool(workspace: () => Promise<Workspace>): BridgeTool {
  return defineTool({
    name: 'read_file',
    description:
      'Reads a text file (UTF-8) of the workspace. Long files come in parts: pass nextOffset as offset to go on.',
    parameters: z.object({
      path: z.string().min(1).describe('File relative to the workspace'),
      offset: z.number().int().min(0).default(0).describe('Byte to start from'),
    }),
    async execute({ path, offset }) {
      const handle = await (await workspace()).openToRead(path);
      try {
        const { size: bytes } = await handle.stat();
        const part = await readPart(handle, offset);
        const text = decode(part, { atStart: offset === 0, atEnd: offset + part.length >= bytes });
        if (!text) return { path, bytes, binary: true, content: null };
        const nextOffset = offset + text.bytes;
        return nextOffset < bytes
          ? { path, bytes, content: text.content, truncated: true, nextOffset }
          : { path, bytes, content: text.content };
      } finally {
        await handle.close();
      }
    },
  });
}

async function readPart(handle: FileHandle, offset: number): Promise<Buffer> {
  const buffer = Buffer.alloc(READ_BYTES);
  let filled = 0;
  while (filled < buffer.length) {
    const { bytesRead } = await handle.read(buffer, filled, buffer.length - filled, offset + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

/** The part as text with the bytes it took, cut at a character's boundary; null when it is no text. */
function decode(
  part: Buffer,
  { atStart, atEnd }: { atStart: boolean; atEnd: boolean },
): { content: string; bytes: number } | null {
  const end = atEnd ? part.length : part.length - incompleteTail(part);
  // An offset in the middle of a character: the rest of it is passed over.
  let start = 0;
  while (!atStart && start < 3 && ((part[start] ?? 0) & 0xc0) === 0x80) start += 1;
  const whole = part.subarray(start, end);
  if (whole.includes(0)) return null;
  try {
    return { content: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(whole), bytes: end };
  } catch {
    return null;
  }
}

/** How many bytes at the end begin a character that does not end there. */
function incompleteTail(part: Buffer): number {
  for (let back = 1; back <= 3 && back <= part.length; back += 1) {
    const byte = part[part.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? back : 0;
  }
  return 0;
}
