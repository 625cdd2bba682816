import { Liquid, toValue } from 'liquidjs';
import { TemplateRenderError } from './template-error.js';

/** Characters a template may have. */
export const MAX_TEMPLATE_LENGTH = 200_000;
/** Characters a rendered text may have. */
export const MAX_RENDERED_LENGTH = 10_000_000;
/** Milliseconds one rendering may hold the event loop. */
const RENDER_MILLIS = 1_000;
/** Characters and array elements that filters and tags may make in one rendering. */
const MEMORY_UNITS = 50_000_000;

/** These would read other templates; there are none. */
const FILE_TAGS = ['include', 'render', 'layout', 'block'];

/**
 * The text a value becomes inside other text: nothing for a missing value or null, JSON for objects and arrays.
 * Also takes LiquidJS's own literals (`empty`, `blank`, `nil`).
 */
export function asText(given: unknown): string {
  const value: unknown = toValue(given);
  if (typeof value === 'string') return value;
  if (value === null || value === undefined) return '';
  if (typeof value === 'object') return JSON.stringify(value);
  if (typeof value === 'number') refuseRounded(value);
  // A number or a boolean: nothing else is JSON.
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}

/**
 * No such integer comes from the scope, so it was written in the template, or a filter made it. From 1e21 on numbers
 * are shown with an exponent, which promises no digits.
 */
export function refuseRounded(value: number): void {
  if (!Number.isInteger(value) || Number.isSafeInteger(value) || Math.abs(value) >= 1e21) return;
  throw new TemplateRenderError(
    `the value is ${value}, an integer outside ±(2^53−1) that may have been rounded; use a string`,
  );
}

/**
 * LiquidJS without a file system and without a way to a prototype (decision 43). Unknown filters are syntax
 * errors; missing variables are empty.
 */
export const templateEngine = createEngine();

function createEngine(): Liquid {
  const engine = new Liquid({
    templates: {},
    relativeReference: false,
    dynamicPartials: false,
    ownPropertyOnly: true,
    strictFilters: true,
    strictVariables: false,
    outputEscape: asText,
    parseLimit: MAX_TEMPLATE_LENGTH,
    renderLimit: RENDER_MILLIS,
    memoryLimit: MEMORY_UNITS,
  });
  for (const tag of FILE_TAGS) Reflect.deleteProperty(engine.tags, tag);
  // The stock filter would switch `asText` off; nothing is escaped here, so there is nothing to leave raw.
  engine.registerFilter('raw', (value: unknown) => value);
  return engine;
}
