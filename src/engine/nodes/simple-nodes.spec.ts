import { nodeVisit } from '../../../test/factories/node-visit.js';
import { ConditionExecutor } from './condition.executor.js';
import { HumanInputExecutor } from './human-input.executor.js';
import { OutputExecutor } from './output.executor.js';
import { TemplateExecutor } from './template.executor.js';
import { UserInputExecutor } from './user-input.executor.js';

const scope = { a: { n: 5, list: [1, 2], text: '量子' }, gone: null };

describe('userInput', () => {
  it('gives the run’s variables', async () => {
    const visit = nodeVisit('userInput', {});
    const run = { ...visit.run, variables: { topic: '量子' } };
    expect(await new UserInputExecutor().execute({ ...visit, run })).toEqual({
      kind: 'completed',
      data: { topic: '量子' },
    });
  });
});

describe('template', () => {
  it.each([
    ['{{ a.text }}/{{ a.n }}/{{ gone.text }}', '量子/5/'],
    ['{{ a.n }}', '5'],
    ['{{ a.list }}', '[1,2]'],
  ])('%s gives a text', async (template, text) => {
    const visit = nodeVisit('template', { template }, { scope });
    expect(await new TemplateExecutor().execute(visit)).toEqual({ kind: 'completed', data: { text } });
  });
});

describe('output', () => {
  it('gives its fields; a lone reference keeps its type, however deep it stands', async () => {
    const fields = [
      { name: 'list', value: '{{ a.list }}' },
      { name: 'text', value: 'n={{ a.n }}' },
      { name: 'deep', value: { x: ['{{ a.n }}', 7, null] } },
      { name: 'gone', value: '{{ gone.text }}' },
    ];
    const visit = nodeVisit('output', { fields }, { scope });
    expect(await new OutputExecutor().execute(visit)).toEqual({
      kind: 'completed',
      data: { list: [1, 2], text: 'n=5', deep: { x: [5, 7, null] }, gone: null },
    });
  });
});

describe('condition', () => {
  const choose = (...conditions: object[]) => {
    const cases = conditions.map((condition, at) => ({ id: `case${at}`, conditions: [condition] }));
    return new ConditionExecutor().execute(nodeVisit('condition', { cases }, { scope }));
  };

  it('chooses the first case that holds, or else', async () => {
    const less = { variable: 'a.n', operator: 'lessThan', value: 3 };
    const more = { variable: 'a.n', operator: 'greaterThan', value: '{{ a.list[1] }}' };
    expect(await choose(less, more, more)).toEqual({
      kind: 'completed',
      data: { case: 'case1' },
      handle: 'case1',
    });
    expect(await choose(less)).toEqual({ kind: 'completed', data: { case: 'else' }, handle: 'else' });
  });

  it('fails by rejecting, never by throwing, where a pattern cannot be searched', async () => {
    const ended = choose({ variable: 'a.text', operator: 'matches', value: '(' });
    await expect(ended).rejects.toMatchObject({ code: 'CONDITION' });
  });
});

describe('humanInput', () => {
  const act = (waited: object | null) => {
    const data = { message: 'Fine, {{ a.text }}?', fields: [{ name: 'ok', type: 'boolean' }] };
    return new HumanInputExecutor().execute(
      nodeVisit('humanInput', data, { scope, waited: waited as never }),
    );
  };

  it('waits for its fields until there is an answer', async () => {
    const first = await act(null);
    expect(first).toMatchObject({
      kind: 'waiting',
      wakeAt: null,
      waitingFor: { kind: 'person', message: 'Fine, 量子?', fields: [{ name: 'ok' }] },
    });
    const waited = first.kind === 'waiting' ? first.waitingFor : {};
    expect(await act(waited)).toEqual(first);
    expect(await act({ ...waited, answer: { ok: false } })).toEqual({
      kind: 'completed',
      data: { ok: false },
    });
  });
});
