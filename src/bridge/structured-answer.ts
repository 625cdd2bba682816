import { parseJson } from './parse-json.js';

const FENCED = /^```(?:json)?\s*\n([\s\S]*?)\n?```$/i;

/** The JSON object a text consists of, possibly inside one code fence; null for any other text. */
export function jsonObjectIn(text: string): Record<string, unknown> | null {
  const trimmed = text.trim();
  const body = FENCED.exec(trimmed)?.[1]?.trim() ?? trimmed;
  if (!body.startsWith('{') || !body.endsWith('}')) return null;
  try {
    const value = parseJson(body, 'refuse');
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
