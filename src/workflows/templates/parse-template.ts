import { Output, type Template } from 'liquidjs';
import { LruCache } from '../../common/cache/lru-cache.js';
import { MAX_TEMPLATE_LENGTH, templateEngine } from './template-engine.js';
import { TemplateSyntaxError } from './template-error.js';

/** Characters of template text whose parsed form is kept. */
const CACHED_CHARACTERS = 4_000_000;
const BLOCK_TAG = /\{%-?\s*(?:if|unless|for|case|tablerow|capture|liquid)\b/g;
/** LiquidJS parses and renders nested tags recursively. */
const MAX_BLOCK_TAGS = 500;

export interface ParsedTemplate {
  /** The text holds no template syntax at all. */
  readonly isPlain: boolean;
  /** The one output that the whole text is, if it is: its value keeps its type. */
  readonly lone: Output | null;
  readonly templates: Template[];
  /** First segments of everything it reads and does not define itself: node ids, `item`, `index`. */
  readonly references: readonly string[];
}

const cache = new LruCache<string, ParsedTemplate>(CACHED_CHARACTERS);

/** Throws TemplateSyntaxError. */
export function parseTemplate(text: string): ParsedTemplate {
  if (!text.includes('{{') && !text.includes('{%')) return PLAIN;
  const cached = cache.get(text);
  if (cached) return cached;
  const parsed = parse(text);
  cache.set(text, parsed, text.length + 200);
  return parsed;
}

const PLAIN: ParsedTemplate = { isPlain: true, lone: null, templates: [], references: [] };

function parse(text: string): ParsedTemplate {
  if (text.length > MAX_TEMPLATE_LENGTH) {
    throw new TemplateSyntaxError(`the template is longer than ${MAX_TEMPLATE_LENGTH} characters`);
  }
  if ((text.match(BLOCK_TAG) ?? []).length > MAX_BLOCK_TAGS) {
    throw new TemplateSyntaxError(`the template has more than ${MAX_BLOCK_TAGS} block tags`);
  }
  try {
    const templates = templateEngine.parse(text);
    const [first] = templates;
    return {
      isPlain: false,
      lone: templates.length === 1 && first instanceof Output ? first : null,
      templates,
      references: referencesOf(templates),
    };
  } catch (error) {
    throw new TemplateSyntaxError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

function referencesOf(templates: Template[]): string[] {
  const paths = templateEngine.globalVariableSegmentsSync(templates, { partials: false });
  return [...new Set(paths.map(([root]) => root).filter((root) => typeof root === 'string'))];
}
