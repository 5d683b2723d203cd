import { headOf } from './documents.js';

describe('the head of a document', () => {
  it.each([
    ['# Title\n\nOne [link](a.md) and `code`. More.\n', { title: 'Title', about: 'One link and code.' }],
    [
      '# `file`: lines\n\n**Context.** A reason\nover two lines.\n',
      { title: 'file: lines', about: 'A reason over two lines.' },
    ],
    ['# Title\n\n<!-- note -->\n\nAt 3.5 s. More.', { title: 'Title', about: 'At 3.5 s.' }],
    ['# Title\n\n## Part\n\nText.', { title: 'Title', about: '' }],
    ['# Title\n\n| a | b |\n', { title: 'Title', about: '' }],
  ])('of %j is %j', (text, head) => expect(headOf(text)).toEqual(head));
});
