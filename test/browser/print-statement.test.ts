import type { Browser } from 'playwright-core';
import { SigningKey } from '../../base/ed25519.js';
import { pigeonholeLists } from '../../base/lists.js';
import { signStatement } from '../../operations/statement/sign-statement.js';
import { statementPage } from '../../operations/statement/statement-page.js';
import type { Statement } from '../../operations/statement/statement.js';
import { statementOf } from '../../operations/statement/statement.test-kit.js';
import { listLabels } from '../../operations/statement/statement-words.js';
import { installedBrowser, openBrowser } from './open-browser.js';

const inBrowser = installedBrowser === undefined ? it.skip : it;
const key = new SigningKey(Buffer.alloc(32, 7));
let browser: Browser | undefined;
afterAll(async () => await browser?.close());

/** Returns the number of pages of a statement on A4. */
async function pagesOnPaper(statement: Statement): Promise<number> {
  browser ??= await openBrowser();
  const page = await browser.newPage();
  await page.setContent(statementPage(signStatement(statement, key)));
  const pdf = await page.pdf({ preferCSSPageSize: true });
  await page.close();
  return [...pdf.toString('latin1').matchAll(/\/Type\s*\/Page\b(?!s)/g)].length;
}

/** Builds the statement of a large event. */
function large(sizes: { destinations: number; sessions: number; interruptions: number; open: number }): Statement {
  const plain = statementOf();
  const numbers = { delivered: 123_000, withheld: 456, refused: 0, waiting: 0, unsent: 0 };
  const sessions = Array.from({ length: sizes.sessions }, (_, n) => 5000 + n);
  const at = (n: number): string => new Date(Date.UTC(2026, 10, 20, 8, n)).toISOString();
  const text = 'people who were not asked whether their data may be passed on';
  const reasons = ['a', 'b', 'c'].map((reason) => ({
    outcome: 'withheld' as const,
    reason,
    text,
    items: 152,
    open: false,
  }));
  return statementOf({
    agrees: sizes.open === 0,
    open: Array.from({ length: sizes.open }, (_, n) => ({
      where: `Attendees, at destination-${n}`,
      text: 'the destination rejects their content',
      items: 12,
      todo: 'Read the answer of the destination, correct the record or the mapping, then redrive them.',
    })),
    source: {
      shown: 1_111_104,
      held: 1_111_104,
      lists: pigeonholeLists.map((list) => ({
        ...plain.source.lists[0]!,
        list,
        label: listLabels[list],
        shown: 123_456,
        held: 123_456,
        sessions: sessions.map((session) => ({ session, shown: 1234, held: 1234 })),
      })),
    },
    sessions: sessions.map((session, n) => ({
      session,
      type: 'poll_multiple_choice',
      startsAt: at(n),
      endsAt: at(n + 60),
    })),
    destinations: Array.from({ length: sizes.destinations }, (_, n) => ({
      ...plain.destinations[0]!,
      name: `destination-${n}`,
      lists: pigeonholeLists.map((list) => ({
        ...plain.destinations[0]!.lists[0]!,
        list,
        label: listLabels[list],
        items: 123_456,
        ...numbers,
        reasons: list === 'attendees' ? reasons : [],
      })),
    })),
    coverage: {
      ...plain.coverage,
      interruptions: Array.from({ length: sizes.interruptions }, (_, n) => ({
        cause: 'silent',
        text: 'the event service did not answer',
        since: at(n * 10),
        until: at(n * 10 + 2),
        seconds: 120,
      })),
      seconds: sizes.interruptions * 120,
    },
  });
}

describe('a printed statement', () => {
  inBrowser.each([
    { destinations: 1, sessions: 0, interruptions: 0, open: 0 },
    { destinations: 2, sessions: 12, interruptions: 3, open: 0 },
    { destinations: 4, sessions: 40, interruptions: 0, open: 0 },
    { destinations: 4, sessions: 400, interruptions: 50, open: 3 },
    { destinations: 3, sessions: 60, interruptions: 20, open: 30 },
  ])('fits on two pages of A4, with %j', async (sizes) => {
    expect(await pagesOnPaper(large(sizes))).toBeLessThanOrEqual(2);
  });
});
