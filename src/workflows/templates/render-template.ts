import { Context, toValue, toValueSync, type Emitter, type Output } from 'liquidjs';
import type { JsonValue } from '../../common/json/json-value.js';
import { orderedObject } from '../../common/json/ordered-object.js';
import { parseTemplate } from './parse-template.js';
import { MAX_RENDERED_LENGTH, asText, refuseRounded, templateEngine } from './template-engine.js';
import { TemplateRenderError } from './template-error.js';

/** What a template reads: `data` of nodes by node id, and `item` and `index` in an iteration. */
export type TemplateScope = Readonly<Record<string, JsonValue>>;

/**
 * Renders a template. One that is exactly one output (`{{ research.score }}`, filters included) gives that value
 * with its type, null when it is missing; any other gives text, in which missing values are empty and objects and
 * arrays are JSON. The value may be part of the scope: do not change it. Throws TemplateSyntaxError,
 * TemplateRenderError, also for an integer outside ±(2^53−1), which the template may have rounded (decision 4).
 */
export function renderTemplate(text: string, scope: TemplateScope): Promise<JsonValue> {
  return Promise.resolve().then(() => renderTemplateSync(text, scope));
}

/** The same as text, whatever the template: for prompts, URLs and the like. */
export async function renderText(text: string, scope: TemplateScope): Promise<string> {
  return asText(await renderTemplate(text, scope));
}

/** Renders every string within a JSON value; keys stay as they are. */
export async function renderTemplates(value: JsonValue, scope: TemplateScope): Promise<JsonValue> {
  if (typeof value === 'string') return renderTemplate(value, scope);
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return Promise.all(value.map((one) => renderTemplates(one, scope)));
  const rendered = Object.entries(value).map(
    async ([key, one]) => [key, await renderTemplates(one, scope)] as const,
  );
  return orderedObject(await Promise.all(rendered));
}

/** As renderTemplate; holds the event loop for a second at most. */
export function renderTemplateSync(text: string, scope: TemplateScope): JsonValue {
  const { isPlain, lone, templates } = parseTemplate(text);
  if (isPlain) return text;
  const context = new Context(scope, templateEngine.options, { sync: true }, { liquid: templateEngine });
  try {
    if (lone) return asJson(toValueSync(valueOf(lone, context)));
    const emitter = new LimitedEmitter();
    toValueSync(templateEngine.renderer.renderTemplates(templates, context, emitter));
    return emitter.buffer;
  } catch (error) {
    if (error instanceof TemplateRenderError) throw error;
    throw new TemplateRenderError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

/** The value of an output before `outputEscape`, which LiquidJS appends as its last filter, makes it text. */
function* valueOf({ value }: Output, context: Context): Generator<unknown, unknown, unknown> {
  let result = yield value.initial.evaluate(context, false);
  for (const filter of value.filters.slice(0, -1)) result = yield filter.render(result, context);
  return result;
}

function asJson(given: unknown): JsonValue {
  const value: unknown = toValue(given);
  switch (typeof value) {
    case 'string':
      if (value.length > MAX_RENDERED_LENGTH) throw tooLong();
      return value;
    case 'boolean':
      return value;
    case 'number':
      if (!Number.isFinite(value)) {
        throw new TemplateRenderError(`the value is ${value}, which JSON cannot hold`);
      }
      refuseRounded(value);
      return value;
    case 'object':
      return value as JsonValue;
    default:
      return null;
  }
}

function tooLong(): TemplateRenderError {
  return new TemplateRenderError(`the rendered text is longer than ${MAX_RENDERED_LENGTH} characters`);
}

class LimitedEmitter implements Emitter {
  buffer = '';

  write(value: unknown): void {
    this.buffer += asText(value);
    if (this.buffer.length > MAX_RENDERED_LENGTH) throw tooLong();
  }
}
