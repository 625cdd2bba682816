import { isNativeError } from 'node:util/types';
import { compileFunction } from 'node:vm';
import { z } from 'zod';
import type { FieldError } from '../../../common/errors/domain-error.js';
import { jsonValue, templatesIn } from './common-data.js';
import { defineNodeType } from './node-type.js';

/** `code`: the body of a JavaScript function of `inputs`, whose texts are templates. */
export const codeNode = defineNodeType({
  type: 'code',
  shape: {
    code: z.string().min(1).max(100_000),
    inputs: z.record(z.string().min(1).max(100), jsonValue).optional(),
  },
  inspect: ({ code, inputs }) => ({
    templates: templatesIn('inputs', inputs),
    problems: code === undefined ? [] : syntaxProblems(code),
  }),
});

/** Compiles and never runs it: the sandbox does that. */
function syntaxProblems(code: string): FieldError[] {
  try {
    compileFunction(code, ['inputs'], { filename: 'code' });
    return [];
  } catch (error) {
    if (!isNativeError(error)) throw error;
    const line = /^code:(\d+)/.exec(error.stack ?? '')?.[1];
    return [{ field: 'code', message: line ? `${error.message} (line ${line})` : error.message }];
  }
}
