import { SigningKey } from '../../base/ed25519.js';
import { signStatement } from './sign-statement.js';
import { statementPage } from './statement-page.js';
import type { Statement } from './statement.js';
import { statementOf } from './statement.test-kit.js';

const key = new SigningKey(Buffer.alloc(32, 7));

/** Returns the words and numbers of the page of a statement. */
function textOf(statement: Statement): string {
  return statementPage(signStatement(statement, key))
    .replace(/<style>.*?<\/style>/s, '')
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/\s+/g, ' ');
}

describe('the page of a statement', () => {
  it('adds up each destination and all of them, so that the numbers of the summary are in the tables', () => {
    const [one] = statementOf().destinations;
    const list = {
      ...one!.lists[0]!,
      items: 7,
      delivered: 5,
      withheld: 2,
      refused: 0,
      waiting: 0,
      unsent: 0,
      reasons: [],
    };
    const destination = {
      ...one!,
      lists: [list, { ...list, list: 'votes', label: 'Votes for questions' }],
      parity: null,
    };
    const text = textOf(statementOf({ destinations: [destination, { ...destination, name: 'second' }] }));
    expect(text).toContain(
      'Counted once for each of the 2 destinations, these have 28 items: 20 were delivered, 8 were',
    );
    expect(text.match(/Sum 14 10 4 0 0 0/g)).toHaveLength(2);
    expect(text).toContain('Sum of all destinations 28 20 8 0 0 0');
  });

  it('says that an event was not over', () => {
    const of = (status: string, lastDay: string): Statement =>
      statementOf({ event: { ...statementOf().event, status, lastDay }, completedAt: '2026-11-29T10:00:00.000Z' });
    const sentence = 'The event was not over: what happens later is not in this statement.';
    expect(textOf(of('live', '2026-11-29'))).toContain(sentence);
    expect(textOf(of('upcoming', '2026-12-01'))).toContain(sentence);
    expect(textOf(of('ended', '2026-11-28'))).not.toContain(sentence);
  });
});
