import { changeSentence, changeWords, type ToldChange } from './change-words.js';
import { type ItemName, nounOf } from './item-titles.js';
import { listNames } from './lists.js';

function told(list: string, kind: string, more: Partial<ItemName> & { readonly visibility?: string | null } = {}) {
  const { visibility = 'named', ...name } = more;
  const named = {
    noun: nounOf(list),
    title: null,
    person: null,
    session: 'Opening keynote',
    event: 'DevConf',
    ...name,
  };
  const change: ToldChange = { list, kind, visibility, name: named };
  return changeSentence(changeWords(change));
}

describe('a change in words', () => {
  it.each([
    ['qna-questions', { person: 'Ada', title: 'When is lunch?' }, 'Ada asked in “Opening keynote”: When is lunch?'],
    [
      'questions',
      { title: 'When?', visibility: 'anonymous' },
      'An anonymous attendee asked in “Opening keynote”: When?',
    ],
    ['questions', { visibility: 'unknown' }, 'An anonymous attendee asked a question in “Opening keynote”'],
    ['questions', {}, 'An attendee asked a question in “Opening keynote”'],
    ['votes', { person: 'Ada', title: 'When?' }, 'Ada voted for a question in “Opening keynote”: When?'],
    ['answers', { person: 'Ada', title: 'Joy' }, 'Ada answered in “Opening keynote”: Joy'],
    ['answers', {}, 'An attendee gave an answer in “Opening keynote”'],
    ['poll-mcq-votes', { title: 'Yes (Again?)' }, 'An attendee voted in a poll in “Opening keynote”: Yes (Again?)'],
    ['attendees', { title: 'Ada', session: null, visibility: null }, 'Ada joined in “DevConf”'],
    ['attendees', { session: null, visibility: null }, 'An attendee joined in “DevConf”'],
    [
      'sessions',
      { title: 'Opening keynote', session: null, visibility: null },
      '“Opening keynote” was added in “DevConf”',
    ],
    ['pigeonholes', { title: 'DevConf', session: null, visibility: null }, '“DevConf” was added'],
  ])('says who did what where, of %s with %j: %s', (list, name, sentence) => {
    expect(told(list, 'created', name)).toBe(sentence);
  });

  it('says what changed, and what was deleted', () => {
    expect(told('questions', 'updated', { person: 'Ada', title: 'When?' })).toBe(
      'Ada’s question changed in “Opening keynote”: When?',
    );
    expect(told('answers', 'deleted')).toBe('An attendee’s answer was deleted in “Opening keynote”');
    expect(told('attendees', 'updated', { title: 'Ada', session: null })).toBe('Ada’s record changed in “DevConf”');
    expect(told('engagement', 'updated', { session: null })).toBe('The activity of an attendee changed in “DevConf”');
  });

  it('has words for every list, without its name', () => {
    for (const list of listNames)
      expect([list, told(list, 'created')]).toEqual([list, expect.not.stringContaining(`of ${list}`)]);
  });
});
