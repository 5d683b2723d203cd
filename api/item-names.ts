import { z } from '@hono/zod-openapi';
import type { ItemName } from '../base/item-titles.js';
import type { Ledger } from '../ledger/ledger.js';
import { nameItems, type NamedItem } from '../operations/name-items.js';

/** The names of an item in an answer. */
export const itemNameSchema = z
  .object({
    noun: z.string().describe('Its kind, such as `a question`.'),
    title: z
      .string()
      .nullable()
      .describe(
        'Title of an event or a session. Text of a question, an answer or a choice, and name of a person, only if personal data was requested.',
      ),
    person: z.string().nullable().describe('Name of its author, only if personal data was requested.'),
    session: z.string().nullable().describe('Title of its session.'),
    event: z.string().nullable().describe('Title of its event.'),
  })
  .openapi('ItemName');

/** Adds to each row what its item is called. @param options.personal true: with names and texts of people */
export async function withNames<Row extends NamedItem>(
  ledger: Pick<Ledger, 'db'>,
  rows: readonly Row[],
  options: { readonly personal: boolean },
): Promise<(Row & { readonly name: ItemName })[]> {
  const names = await nameItems(ledger, rows, options);
  return rows.map((row, at) => ({ ...row, name: names[at]! }));
}
