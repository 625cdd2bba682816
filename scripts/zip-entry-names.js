import yauzl from 'yauzl';

/** Names of all files in a zip, in its order. */
export function zipEntryNames(buffer) {
  return new Promise((resolve, reject) => {
    yauzl.fromBuffer(buffer, { lazyEntries: false }, (error, zip) => {
      if (error) {
        reject(error);
        return;
      }
      const names = [];
      zip.on('entry', ({ fileName }) => names.push(fileName));
      zip.on('end', () => resolve(names.filter((name) => !name.endsWith('/'))));
      zip.on('error', reject);
    });
  });
}
