import { readFileSync } from 'node:fs';
import { factsOf, type ListFacts, listFacts } from '../test/kit/list-facts.js';
import {
  decidingLists,
  derivedLists,
  isPerSession,
  type ListName,
  listNames,
  listsCountedAs,
  listsOfPeople,
  listsWhere,
  listTraits,
  type PigeonholeListName,
  pigeonholeLists,
  questionLists,
  serviceLists,
  serviceListsWhere,
  serviceTraits,
} from './lists.js';

const read = (path: string): string => readFileSync(path, 'utf8');

/** Returns the rows of a table of the contract, one for each list that its first cell names. */
function contractTable(heading: string): Map<string, string[]> {
  const lines = read('docs/service-contract.md').split('\n');
  const start = lines.findIndex((line) => line.startsWith(heading));
  const rows = lines.slice(start + 2, lines.indexOf('', start));
  return new Map(
    rows.flatMap((row) => {
      const [lists, ...cells] = row.split('|').slice(1, -1);
      return lists!.split(',').map((list) => [list.trim(), cells.map((cell) => cell.trim())] as const);
    }),
  );
}

const words = (cell: string): string[] => cell.replace(/\(.*\)/, '').match(/\w+/g) ?? [];

describe('the lists of the service', () => {
  it('have the filters that docs/service-contract.md states', () => {
    const stated = contractTable('| list | required | optional filters |');
    expect([...stated.keys()].toSorted()).toEqual(serviceLists.toSorted());
    for (const [list, [required, optional]] of stated) {
      const { filters, perSession } = serviceTraits[list as 'votes'];
      expect([list, filters]).toEqual([list, [...words(required!), ...words(optional!)]]);
      expect([list, perSession !== null]).toEqual([list, words(required!).includes('sessionId')]);
    }
  });

  it('have the ids that docs/service-contract.md states', () => {
    const stated = contractTable('| list | id |');
    expect([...stated.keys()].toSorted()).toEqual(serviceLists.toSorted());
    for (const [list, [id]] of stated) {
      const { hasIds, idWithin } = serviceTraits[list as 'votes'];
      const own = hasIds ? `\`${idWithin === null ? '' : `${idWithin}.`}id\`` : 'none';
      expect([list, own]).toEqual([list, id]);
    }
  });

  it('are filled by sessions of the type that the specification shows with their items', () => {
    expect(serviceTraits.votes.perSession).toBe('qna');
    expect(serviceTraits.answer_ratings.perSession).toBe('qna');
    expect(serviceTraits.answers.perSession).toBe('poll_word_cloud');
  });

  it('are looked up by a filter that they support', () => {
    for (const list of serviceLists) {
      const { lookUpBy, filters } = serviceTraits[list];
      expect([list, lookUpBy === null || filters.includes(lookUpBy)]).toEqual([list, true]);
    }
  });

  it('of one pigeonhole are read in the stage of the lists that they depend on, or later', () => {
    expect(serviceListsWhere(({ stage }) => stage === 'sessions')).toEqual(['sessions']);
    expect(serviceListsWhere(({ stage }) => stage === 'attendees')).toEqual(['attendees']);
    expect(serviceListsWhere(({ stage }) => stage === 'flags')).toEqual(['qna-questions']);
  });
});

// Which lists show whom is spelled out apart from the table, because a wrong trait reveals a person.
describe('the people in a list', () => {
  const shown: Readonly<Record<Exclude<ListName, PigeonholeListName>, ListFacts['shows']>> = {
    pigeonholes: 'nobody',
    subscriptions: 'nobody',
    registrants: 'a person',
    engagement: 'a person',
  };
  const rules = {
    none: 'nobody',
    'own-record': 'a person',
    judged: 'an author without a flag',
    flagged: 'an author with a flag',
  };

  it.each(listNames)('of the name %s are shown as the specification says', (list) => {
    const facts = factsOf(list);
    expect(rules[listTraits[list].person]).toBe(facts?.shows ?? (shown as Readonly<Record<string, string>>)[list]);
  });

  it('without a flag are anonymous as their session says, and questions also as their own flag says', () => {
    const judged = listsWhere(({ person }) => person === 'judged');
    for (const list of judged) {
      const { flagIn } = listFacts[list as PigeonholeListName];
      const judges = flagIn === null ? ['sessions'] : ['sessions', flagIn];
      expect([list, listTraits[list].judgedBy]).toEqual([list, judges]);
    }
    expect([...decidingLists]).toEqual(['sessions', 'qna-questions']);
  });

  it('are its items only in the lists of attendees and of registrants', () => {
    expect([...listsOfPeople].toSorted()).toEqual(['attendees', 'registrants']);
  });

  it('asked the questions of two lists, and the questions that two other lists repeat', () => {
    expect([...questionLists].toSorted()).toEqual(['qna-questions', 'questions']);
    expect(listsWhere(({ repeatsQuestions }) => repeatsQuestions)).toEqual(['votes', 'answer_ratings']);
    for (const list of listsWhere(({ repeatsQuestions }) => repeatsQuestions)) {
      expect(listTraits[list].copies).toContain('question');
    }
  });
});

describe('a list of a pigeonhole', () => {
  it.each(pigeonholeLists)('%s is requested, and repeats other items, as the tests know it', (list) => {
    const { needsSession, movesBetweenStreams, copies } = listFacts[list];
    const { perSession, hasIds, copies: repeated } = serviceTraits[list];
    expect([needsSession, movesBetweenStreams]).toEqual([perSession !== null, perSession !== null && hasIds]);
    expect(copies).toEqual(repeated);
  });
});

describe('the activity of an attendee', () => {
  it('is counted once, although two lists hold the same questions', () => {
    expect(listsCountedAs('asked')).toEqual(['qna-questions']);
    expect(listsCountedAs('answered')).toEqual(['poll-mcq-votes', 'poll-quiz-votes']);
    expect(listsCountedAs('responded')).toEqual(['answers']);
    expect(listsCountedAs('voted')).toEqual(['votes']);
    expect(listsCountedAs('rated')).toEqual(['answer_ratings']);
  });
});

describe('the table', () => {
  it('has every list at another place of the menus', () => {
    expect(new Set(listNames.map((list) => listTraits[list].menu)).size).toBe(listNames.length);
  });

  it('says for each list of interactions which members are copies', () => {
    for (const list of serviceListsWhere(({ person }) => person === 'judged' || person === 'flagged')) {
      expect([list, listTraits[list].copies.includes('session')]).toEqual([list, true]);
    }
    expect(derivedLists.filter((list) => listTraits[list].copies.length > 0)).toEqual([]);
    expect(serviceLists.filter(isPerSession)).toEqual(['votes', 'answer_ratings', 'answers']);
  });
});
