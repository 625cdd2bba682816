import { ValidationError } from '../../common/errors/domain-error.js';

/** Longest name a file system takes, in bytes of UTF-8. */
const MAX_COMPONENT_BYTES = 255;
/** Longest path below the workspace, so that the whole stays under the file systems' 4,096. */
const MAX_PATH_BYTES = 2048;

/**
 * Normalises the path an upload asked for: relative, with `/`, without `.` and empty components. Throws a
 * ValidationError for anything that could leave the workspace or that a file system refuses (decision 16).
 */
export function normalizeRelativePath(raw: string): string {
  const refuse = (why: string): never => {
    throw ValidationError.ofFields([{ field: 'files', message: `the path ${shown(raw)} ${why}` }]);
  };
  if (/\p{Surrogate}/u.test(raw)) refuse('is not well-formed text');
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  if (/[\u0000-\u001f\u007f-\u009f]/.test(raw)) refuse('contains a control character');
  if (raw.includes('\ufffd')) refuse('is not valid UTF-8');
  if (raw.includes('\\')) refuse('contains a backslash');
  if (raw.startsWith('/')) refuse('is absolute');
  if (raw.endsWith('/')) refuse('names a folder');
  const components = raw.split('/').filter((component) => component !== '' && component !== '.');
  if (components.length === 0) refuse('is empty');
  if (/^[A-Za-z]:/.test(components[0] ?? '')) refuse('names a drive');
  for (const component of components) {
    if (component === '..') refuse('leaves the workspace');
    if (Buffer.byteLength(component) > MAX_COMPONENT_BYTES) {
      refuse(`has a component over ${MAX_COMPONENT_BYTES} bytes`);
    }
  }
  const normalized = components.join('/');
  if (Buffer.byteLength(normalized) > MAX_PATH_BYTES) refuse(`is over ${MAX_PATH_BYTES} bytes`);
  return normalized;
}

function shown(raw: string): string {
  const text = raw.length > 100 ? `${raw.slice(0, 100)}…` : raw;
  return JSON.stringify(text);
}
