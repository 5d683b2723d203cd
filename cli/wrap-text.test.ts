import { wrapText } from './wrap-text.js';

describe('a wrapped text', () => {
  it.each<[string, string, Parameters<typeof wrapText>[1], string[]]>([
    ['that fits is one line', 'one two', { columns: 7 }, ['one two']],
    ['is broken between words', 'one two three', { columns: 9 }, ['one two', 'three']],
    ['stands below its beginning', 'one two', { columns: 8, lead: '  - ' }, ['  - one', '    two']],
    ['stands as far in as is said', 'one two', { columns: 8, lead: '  - ', indent: 2 }, ['  - one', '  two']],
    ['keeps a word that is too long whole', 'a incomprehensible b', { columns: 6 }, ['a', 'incomprehensible', 'b']],
    ['obeys no control character', 'one\u001b[2J\ntwo', { columns: 20 }, ['one [2J two']],
    ['may be empty', '', { columns: 20, lead: '- ' }, ['-']],
  ])('%s', (_, text, options, lines) => {
    expect(wrapText(text, options)).toEqual(lines);
  });
});
