import { plainProblem } from '../importing/files/checked-row.js';
import { noteWords } from './import-notes.js';

describe('a note on a row', () => {
  it.each(['trimmed', 'apostrophe-removed', 'code-generated'] as const)('says the same as its message: %s', (code) => {
    const { message } = plainProblem(1, null, code);
    expect(`${noteWords(code)}.`).toBe(message.charAt(0).toLowerCase() + message.slice(1));
  });

  it('says that a code is similar to another one, and shows a code that is not known here', () => {
    expect(noteWords('similar-code')).toContain('differs from another one only in upper and lower case');
    expect(noteWords('from-the-future')).toBe('from-the-future');
  });
});
