import { fromBuffer, type Entry } from 'yauzl';

export interface ZipEntry {
  name: string;
  /** Bit 11 of the general purpose flags. */
  utf8: boolean;
  content: Buffer;
}

export function readZip(zip: Buffer): Promise<ZipEntry[]> {
  return new Promise((resolve, reject) => {
    fromBuffer(zip, { lazyEntries: true, decodeStrings: false }, (failure, file) => {
      if (failure) return reject(failure);
      const entries: ZipEntry[] = [];
      file.on('error', reject);
      file.on('end', () => resolve(entries));
      file.on('entry', (entry: Entry) => {
        file.openReadStream(entry, (error, stream) => {
          if (error) return reject(error);
          const chunks: Buffer[] = [];
          stream.on('error', reject);
          stream.on('data', (chunk: Buffer) => chunks.push(chunk));
          stream.on('end', () => {
            entries.push({
              name: (entry.fileName as unknown as Buffer).toString('utf8'),
              utf8: (entry.generalPurposeBitFlag & 0x800) !== 0,
              content: Buffer.concat(chunks),
            });
            file.readEntry();
          });
        });
      });
      file.readEntry();
    });
  });
}

/** Bytes of each entry before it was packed, as the directory of the zip says. */
export function zippedSizes(zip: Buffer): Promise<Record<string, number>> {
  return new Promise((resolve, reject) => {
    fromBuffer(zip, { lazyEntries: false }, (failure, file) => {
      if (failure) return reject(failure);
      const sizes: Record<string, number> = {};
      file.on('error', reject);
      file.on('entry', ({ fileName, uncompressedSize }: Entry) => (sizes[fileName] = uncompressedSize));
      file.on('end', () => resolve(sizes));
    });
  });
}
