import { templateReferences } from './template-references.js';
import { TemplateSyntaxError } from './template-error.js';

describe('templateReferences', () => {
  it.each([
    ['no syntax', []],
    ['{{ a.text }} and {{ node-2.text }} and {{ a.more }}', ['a', 'node-2']],
    ['{{ a.b | append: c.d | default: e }}', ['a', 'c', 'e']],
    ['{{ a[b.c] }}', ['a', 'b']],
    ['{% if a.x contains b.y %}{% elsif c %}{% endif %}', ['a', 'b', 'c']],
    ['{% for x in a.list %}{{ x.y }}{{ forloop.index }}{{ b }}{% endfor %}', ['a', 'b']],
    ['{% for i in (1..a.n) %}{% endfor %}', ['a']],
    ['{% assign x = a.b %}{{ x.c }}', ['a']],
    ['{{ x }}{% assign x = 1 %}', ['x']],
    ['{% capture x %}{{ a }}{% endcapture %}{{ x }}', ['a']],
    ['{% case a.b %}{% when c.d %}{% endcase %}', ['a', 'c']],
    ['{% raw %}{{ a }}{% endraw %}{% comment %}{{ b }}{% endcomment %}', []],
    ['{{ ["a"].text }}', ['a']],
    ['{% if a == empty or a == nil or a == true %}{% endif %}', ['a']],
  ])('%s: %j', (template, expected) => {
    expect(templateReferences(template).sort()).toEqual(expected);
  });

  it('throws a syntax error that says where', () => {
    expect(() => templateReferences('one\n{{ a.b | }} {{')).toThrow(TemplateSyntaxError);
    expect(() => templateReferences('one\n{{ a')).toThrow(/line:2/);
  });
});
