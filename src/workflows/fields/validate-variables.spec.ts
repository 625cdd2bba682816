import fc from 'fast-check';
import { ValidationError } from '../../common/errors/domain-error.js';
import type { JsonObject, JsonValue } from '../../common/json/json-value.js';
import type { GraphData, InputField } from '../graph/graph-data.js';
import { inputFields, outputFields } from './graph-fields.js';
import { validateVariables } from './validate-variables.js';

function graph(...fields: InputField[]): GraphData {
  return {
    nodes: [{ id: 'in', type: 'userInput', data: { fields: fields as unknown as JsonValue } }],
    edges: [],
  };
}

function errorsOf(fields: InputField[], variables: JsonObject): unknown {
  try {
    validateVariables(graph(...fields), variables);
    return [];
  } catch (error) {
    if (error instanceof ValidationError) return error.details;
    throw error;
  }
}

describe('validateVariables', () => {
  it.each<[InputField['type'], JsonValue[], JsonValue[]]>([
    ['string', ['', '量子', '\u0000'], [5, true, [], {}]],
    ['number', [0, -1.5, 1e300], ['1', true, []]],
    ['integer', [0, -3, 9_007_199_254_740_991], [1.5, '1', 9_007_199_254_740_992, 1e300]],
    ['boolean', [true, false], ['true', 0]],
    ['object', [{}, { a: 1 }], [[], 'x', 1]],
    ['array', [[], [1, 'a']], [{}, 'x']],
    [
      'file',
      ['a.md', '资料/原文.md', '..a/b..', 'a b'],
      ['', '/a', '../a', 'a/../b', 'a//b', 'a/', './a', 'C:/a', 'a\\b', 'a\u0000', '\ud800.md', 5],
    ],
  ])('%s', (type, good, bad) => {
    for (const value of good) {
      expect(validateVariables(graph({ name: 'x', type, required: true }), { x: value })).toEqual({
        x: value,
      });
    }
    for (const value of bad) {
      expect(errorsOf([{ name: 'x', type }], { x: value })).toEqual([
        { field: 'variables.x', message: expect.stringMatching(/^must be/) as string },
      ]);
    }
  });

  it('takes only the options of a select, and of any field that has some', () => {
    const select: InputField = { name: 'x', type: 'select', options: ['甲', 2, true] };
    for (const value of ['甲', 2, true]) expect(errorsOf([select], { x: value })).toEqual([]);
    for (const value of ['乙', '2', false, ['甲']]) expect(errorsOf([select], { x: value })).toHaveLength(1);
    expect(errorsOf([{ name: 'x', type: 'integer', options: [1, 2] }], { x: 3 })).toEqual([
      { field: 'variables.x', message: 'must be one of 1, 2' },
    ]);
  });

  it('wants required fields, and takes null for not given', () => {
    const required: InputField = { name: 'x', type: 'string', required: true };
    expect(errorsOf([required], {})).toEqual([{ field: 'variables.x', message: 'is required' }]);
    expect(errorsOf([required], { x: null })).toEqual([{ field: 'variables.x', message: 'is required' }]);
    expect(validateVariables(graph({ name: 'x', type: 'string' }), { x: null })).toEqual({ x: null });
  });

  it('fills in defaults', () => {
    const field: InputField = { name: 'x', type: 'integer', required: true, default: 3 };
    expect(validateVariables(graph(field), {})).toEqual({ x: 3 });
    expect(validateVariables(graph(field), { x: null })).toEqual({ x: 3 });
    expect(validateVariables(graph(field), { x: 0 })).toEqual({ x: 0 });
    expect(validateVariables(graph({ ...field, type: 'boolean', default: true }), { x: false })).toEqual({
      x: false,
    });
  });

  it('names every wrong field', () => {
    const fields: InputField[] = [
      { name: 'a', type: 'string', required: true },
      { name: 'b', type: 'integer' },
      { name: 'c', type: 'array' },
    ];
    expect(errorsOf(fields, { b: 'x', c: [] })).toEqual([
      { field: 'variables.a', message: 'is required' },
      { field: 'variables.b', message: 'must be an integer' },
    ]);
  });

  it('keeps variables that no field declares, whatever they are', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (variables) => {
        expect(validateVariables(graph(), variables as JsonObject)).toEqual(variables);
      }),
    );
    const proto = JSON.parse('{"__proto__": {"polluted": true}}') as JsonObject;
    expect(Object.keys(validateVariables(graph(), proto))).toEqual(['__proto__']);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});

describe('inputFields and outputFields', () => {
  it('come from the userInput node and from the output nodes', () => {
    const data: GraphData = {
      nodes: [
        { id: 'o1', type: 'output', data: { fields: [{ name: 'a', value: '{{ x }}', label: 'A' }] } },
        { id: 'i', type: 'userInput', data: { fields: [{ name: 'topic', type: 'string' }] } },
        {
          id: 'o2',
          type: 'output',
          data: {
            fields: [
              { name: 'a', value: '1' },
              { name: 'b', value: 2 },
            ],
          },
        },
      ],
      edges: [],
    };
    expect(inputFields(data)).toEqual([{ name: 'topic', type: 'string' }]);
    expect(outputFields(data)).toEqual([{ name: 'a', label: 'A' }, { name: 'b' }]);
    expect(inputFields({ nodes: [{ id: 'i', type: 'userInput', data: {} }], edges: [] })).toEqual([]);
  });
});
