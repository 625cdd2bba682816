import { z } from 'zod';
import type { FieldError } from '../../../common/errors/domain-error.js';
import { jsonValue, templatesIn } from './common-data.js';
import { defineNodeType } from './node-type.js';

const headerName = z
  .string()
  .max(200)
  .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'is no header name');

/** `http`: one request; URL, header values and the texts in the body are templates. */
export const httpNode = defineNodeType({
  type: 'http',
  shape: {
    method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD']),
    url: z.string().min(1).max(8_000),
    headers: z.record(headerName, z.string().max(8_000)).optional(),
    body: jsonValue.optional(),
  },
  inspect: ({ url, headers, body }) => ({
    templates: [...templatesIn('url', url), ...templatesIn('headers', headers), ...templatesIn('body', body)],
    problems: url === undefined ? [] : urlProblems(url),
  }),
});

/** Only what is certain before the templates are rendered. */
function urlProblems(url: string): FieldError[] {
  if (/\{\{|\{%/.test(url)) return [];
  const protocol = URL.canParse(url) ? new URL(url).protocol : null;
  if (protocol === 'http:' || protocol === 'https:') return [];
  return [{ field: 'url', message: 'must be an http or https URL' }];
}
