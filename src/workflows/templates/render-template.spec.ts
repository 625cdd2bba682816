import fc from 'fast-check';
import { numberProblem } from '../../common/json/json-number.js';
import type { JsonValue } from '../../common/json/json-value.js';
import { renderTemplate, renderTemplates, renderText } from './render-template.js';
import { TemplateRenderError, TemplateSyntaxError } from './template-error.js';

const scope = {
  in: { topic: '量子', n: 3, list: ['甲', '乙'], nested: { 'a.b': 1, a: { b: 2 } }, no: null, empty: '' },
  'node-2': { text: 'x' },
  skipped: null,
};

describe('renderTemplate', () => {
  it.each<[string, JsonValue]>([
    ['plain {text} 100% ', 'plain {text} 100% '],
    ['{{ in.topic }}', '量子'],
    ['{{in.n}}', 3],
    ['{{- in.list -}}', ['甲', '乙']],
    ['{{ in.list[1] }}', '乙'],
    ['{{ in.nested["a.b"] }}', 1],
    ['{{ in.nested.a }}', { b: 2 }],
    ['{{ in.no }}', null],
    ['{{ in.missing.deeper }}', null],
    ['{{ skipped.text }}', null],
    ['{{ nobody.text }}', null],
    ['{{ node-2.text }}', 'x'],
    ['{{ nobody.n | default: 0 }}', 0],
    ['{{ in.n | plus: 1 }}', 4],
    ['{{ in.list | size }}', 2],
    ['{{ 9007199254740991 }}', 9007199254740991],
    ['{{ empty }}', ''],
    ['{{ "a" }}', 'a'],
  ])('%s alone gives %j', async (template, expected) => {
    expect(await renderTemplate(template, scope)).toEqual(expected);
  });

  it.each([
    [' {{ in.n }}', ' 3'],
    ['{{ in.n }}{{ in.n }}', '33'],
    ['【{{ in.missing }}{{ skipped.text }}】', '【】'],
    ['{{ in.list }}!', '["甲","乙"]!'],
    ['{{ in.nested.a }}!', '{"b":2}!'],
    ['{{ in.nested.a | raw }}!', '{"b":2}!'],
    ['{% for x in in.list %}{{ forloop.index }}{{ x }};{% endfor %}', '1甲;2乙;'],
    ['{% if in.n > 2 %}yes{% else %}no{% endif %}', 'yes'],
    ['{% capture c %}{{ in.nested.a }}{% endcapture %}[{{ c }}]', '[{"b":2}]'],
    ['<{{ in.topic }}>&', '<量子>&'],
  ])('%s gives the text %j', async (template, expected) => {
    expect(await renderTemplate(template, scope)).toBe(expected);
  });

  it.each([
    '{{ in.topic',
    '{% if in.n %}',
    '{% include "x" %}',
    '{% render "x" %}',
    '{% layout "x" %}',
    '{{ in.n | no_such_filter }}',
    '{{ }}',
    '{% nonsense %}',
    '{{ a:b }}',
    '{% if a %}'.repeat(501),
    `{{ ${'a['.repeat(50_000)} }}`,
    `{{ a }}${'x'.repeat(200_000)}`,
  ])('%.40s is a syntax error', async (template) => {
    await expect(renderTemplate(template, scope)).rejects.toThrow(TemplateSyntaxError);
  });

  it.each([
    ['{{ 9007199254740993 }}', /the value is 9007199254740992, an integer outside ±\(2\^53−1\)/],
    ['order {{ 9007199254740993 }}', /9007199254740992, an integer outside/],
    ['{{ "9007199254740993" | plus: 0 }}', /9007199254740992, an integer outside/],
    ['{{ 9007199254740991 | plus: 2 }}', /an integer outside/],
    ['{% assign x = 9007199254740991 | times: -3 %}{{ x }}', /an integer outside/],
    ['{{ 1 | divided_by: 0.0 }}', /the value is Infinity, which JSON cannot hold/],
  ])('%s is refused, not rounded', async (template, message) => {
    await expect(renderTemplate(template, scope)).rejects.toThrow(TemplateRenderError);
    await expect(renderTemplate(template, scope)).rejects.toThrow(message);
  });

  it.each([
    '{% for a in (1..100000000) %}{% endfor %}',
    '{% for a in (1..3000) %}{% for b in (1..3000) %}{% for c in (1..3000) %}{% endfor %}{% endfor %}{% endfor %}',
    `{% assign x = "${'x'.repeat(100_000)}" %}${'{% assign x = x | append: x %}'.repeat(15)}{{ x }}`,
    `{% capture x %}${'x'.repeat(90_000)}{% endcapture %}${'{% capture x %}{{ x }}{{ x }}{% endcapture %}'.repeat(40)}{{ x }}`,
  ])('%.40s meets a limit', async (template) => {
    await expect(renderTemplate(template, scope)).rejects.toThrow(TemplateRenderError);
  });

  it('never reaches a prototype', async () => {
    const word = fc.constantFrom(
      ...[
        'constructor',
        '__proto__',
        'prototype',
        'toString',
        'valueOf',
        'hasOwnProperty',
        '__defineGetter__',
      ],
      ...['call', 'apply', 'name', 'at', 'push', 'charAt', 'liquidMethodMissing', 'toLiquid'],
    );
    const path = fc.tuple(
      fc.constantFrom('in', 'in.list', 'in.topic', 'in.n', 'nobody'),
      fc.array(word, { minLength: 1 }),
    );
    await fc.assert(
      fc.asyncProperty(path, fc.boolean(), async ([root, words], brackets) => {
        const access = words.map((one) => (brackets ? `["${one}"]` : `.${one}`)).join('');
        expect(await renderTemplate(`{{ ${root}${access} }}`, scope)).toBeNull();
        expect(await renderTemplate(`{{ ${root} | map: "${words[0]}" | join: "" }}.`, scope)).toBe('.');
        expect(await renderTemplate(`{{ ${words.join('.')} }}`, scope)).toBeNull();
      }),
    );
  });

  it('keeps the type and value of any JSON value', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ stringUnit: 'binary' }), async (value) => {
        // Integers that a double may have rounded are refused.
        const numbers = JSON.stringify(value).match(/-?\d[\d.]*(?:e[+-]?\d+)?/g) ?? [];
        fc.pre(numbers.every((one) => numberProblem(one) === null));
        expect(await renderTemplate('{{ n.k }}', { n: { k: value as JsonValue } })).toEqual(value);
      }),
    );
  });

  it('leaves text without syntax as it is', async () => {
    const text = fc.string({ unit: 'binary' }).filter((one) => !/\{\{|\{%/.test(one));
    await fc.assert(
      fc.asyncProperty(text, async (given) => expect(await renderTemplate(given, scope)).toBe(given)),
    );
  });

  it('gives a result or one of its two errors for any text', async () => {
    const piece = fc.constantFrom(
      ...[
        '{{',
        '}}',
        '{%',
        '%}',
        ' ',
        'in',
        '.',
        'n',
        '|',
        'default',
        ':',
        '0',
        '"',
        "'",
        '[',
        ']',
        '-',
        'for',
        'x',
      ],
      ...[
        'if',
        'endif',
        'endfor',
        '(1..3)',
        'assign',
        '=',
        'capture',
        'endcapture',
        'case',
        '\n',
        '量',
        '\u0000',
      ],
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 30 }), async (pieces) => {
        try {
          await renderTemplate(pieces.join(''), scope);
        } catch (error) {
          expect(error instanceof TemplateSyntaxError || error instanceof TemplateRenderError).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe('renderText', () => {
  it('makes text of whatever the template gives', async () => {
    expect(await renderText('{{ in.list }}', scope)).toBe('["甲","乙"]');
    expect(await renderText('{{ in.n }}', scope)).toBe('3');
    expect(await renderText('{{ nobody.text }}', scope)).toBe('');
  });
});

describe('renderTemplates', () => {
  it('renders the strings within, and leaves keys and other values', async () => {
    const given = { '{{ in.n }}': ['{{ in.n }}', 1, null, { a: 'n={{ in.n }}' }], t: true };
    expect(await renderTemplates(given, scope)).toEqual({
      '{{ in.n }}': [3, 1, null, { a: 'n=3' }],
      t: true,
    });
  });
});
