/** One line of a prompt that drives the demo model. */
export interface Directive {
  readonly name: DirectiveName;
  /** The rest of the line, as it stands. */
  readonly rest: string;
}

export const DIRECTIVE_NAMES = [
  'think',
  'todo',
  'call',
  'say',
  'json',
  'sleep',
  'fail',
  'flake',
  'plan',
] as const;
export type DirectiveName = (typeof DIRECTIVE_NAMES)[number];

const DIRECTIVE = new RegExp(`^@(${DIRECTIVE_NAMES.join('|')})(?:[ \\t]+(.*))?$`);

/** The directives of a prompt, in order. Other lines, `@anything` else included, are ordinary text. */
export function directivesIn(prompt: string): Directive[] {
  const directives: Directive[] = [];
  for (const line of prompt.split(/\r?\n/)) {
    const match = line.startsWith('@') ? DIRECTIVE.exec(line) : null;
    if (match) directives.push({ name: match[1] as DirectiveName, rest: match[2] ?? '' });
  }
  return directives;
}
