import { ToolError } from './bridge-tool.js';

const MAX_COMPONENT_BYTES = 255;
const MAX_PATH_BYTES = 4096;
const MAX_DEPTH = 64;

/**
 * The components of a path inside the workspace; none means the workspace itself. Throws ToolError for anything
 * that could point elsewhere or would become another name: absolute paths, `..`, drive letters, backslashes, NUL,
 * control characters and lone surrogates.
 */
export function workspacePath(path: string): string[] {
  const refuse = (why: string): never => {
    throw new ToolError(`path ${why}`);
  };
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) refuse(`is longer than ${MAX_PATH_BYTES} bytes`);
  // On disk every lone surrogate becomes the same U+FFFD: two names would be one file.
  if (/\p{Surrogate}/u.test(path)) refuse('contains a lone surrogate, which is no character');
  if (/\p{Cc}/u.test(path)) refuse('contains control characters');
  if (path.includes('\\')) refuse('contains a backslash; use /');
  if (path.startsWith('/') || /^[A-Za-z]:/.test(path)) refuse('must be relative to the workspace');
  const components = path.split('/').filter((component) => component !== '' && component !== '.');
  if (components.includes('..')) refuse('must not contain ..');
  if (components.length > MAX_DEPTH) refuse(`is deeper than ${MAX_DEPTH} folders`);
  if (components.some((component) => Buffer.byteLength(component) > MAX_COMPONENT_BYTES)) {
    refuse(`has a component longer than ${MAX_COMPONENT_BYTES} bytes`);
  }
  return components;
}
