import { traceabilityOf } from './source-refs.js';

const RULE = { required: true, sent: new Set(['kb-1', '章节 2']) };

describe('traceabilityOf', () => {
  it.each([
    ['cited in the text', { text: 'a [[kb-1]] b [[章节 2]]', data: null }, 'muse_source_refs'],
    ['listed in the data', { text: '', data: { source_refs: ['kb-1'] } }, 'muse_source_refs'],
    ['not named', { text: 'a', data: null }, 'none'],
    ['made up', { text: '[[kb-9]]', data: null }, 'none'],
    ['partly made up', { text: '[[kb-1]]', data: { source_refs: ['kb-9'] } }, 'none'],
    ['no texts', { text: '', data: { source_refs: [1] } }, 'none'],
    ['an empty list', { text: '', data: { source_refs: [] } }, 'none'],
  ] as const)('sources that are %s', (_what, { text, data }, expected) => {
    const output = { text, data: data && { source_refs: [...data.source_refs] } };
    expect(traceabilityOf(RULE, output, false)).toBe(expected);
  });

  it('what the provider knows by itself taints everything', () => {
    expect(traceabilityOf(RULE, { text: '[[kb-1]]', data: null }, true)).toBe('untraceable_provider_context');
  });
});
