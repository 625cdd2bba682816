import { directivesIn } from './directive.js';

describe('directivesIn', () => {
  it('finds lines that begin with a known word, in order', () => {
    expect(directivesIn('text\n@say  two spaces \r\n@fail\n@sleep 5')).toEqual([
      { name: 'say', rest: 'two spaces ' },
      { name: 'fail', rest: '' },
      { name: 'sleep', rest: '5' },
    ]);
  });
  it.each(['say x', ' @say x', 'x @say x', '@sayings x', '@Say x', '@unknown x', '@', ''])(
    'takes %j for ordinary text',
    (line) => {
      expect(directivesIn(line)).toEqual([]);
    },
  );
});
