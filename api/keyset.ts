import { z } from '@hono/zod-openapi';
import { printable } from '../base/printable.js';
import { Refused } from './problem.js';

/** Query parameters of one page of a list. */
export const pageQuery = {
  limit: z.coerce.number().int().min(1).max(500).default(100).describe('Maximum number of entries.'),
  after: z
    .string()
    .min(1)
    .max(1000)
    .optional()
    .describe('`next` of the previous part; without it, the first part is returned.'),
};

/** A part of a long list. */
export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.object({
    items: z.array(item),
    next: z.string().nullable().describe('Value of `after` for the next part; null: this is the last part.'),
  });
}

/**
 * Encodes where a part of a list ended, with the values by which the list is sorted. Unlike a number of rows to skip,
 * it still names the same position after rows before it are added or removed.
 */
function toCursor(values: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify(values)).toString('base64url');
}

/** Schemas for cursor values by column type, because PostgreSQL fails on a value that the type cannot hold. */
export const positionOf = {
  text: printable(500),
  int4: z.int32(),
  int8: z.int(),
  /** Precise to the microsecond, like the rows. PostgreSQL has no year 0. */
  instant: z.iso.datetime().regex(/^[1-9]/),
};

/** @throws {Refused} 400 for a text that no list has returned */
export function fromCursor<Values>(schema: z.ZodType<Values>, after: string | undefined): Values | null {
  if (after === undefined) return null;
  const values = schema.safeParse(parse(Buffer.from(after, 'base64url').toString()));
  if (values.success) return values.data;
  throw new Refused(400, '"after" must be "next" of the previous part, unchanged', {
    faults: [{ in: 'query', at: 'after', problem: 'no part of this list ends there' }],
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns one page and its cursor. `rows` holds one row more than the page if another page follows. */
export function partOf<Row, Item>(
  rows: readonly Row[],
  limit: number,
  { view, orderedBy }: { view: (row: Row) => Item; orderedBy: (row: Row) => readonly (string | number)[] },
): { items: Item[]; next: string | null } {
  const own = rows.slice(0, limit);
  const last = own.at(-1);
  return {
    items: own.map(view),
    next: rows.length > limit && last !== undefined ? toCursor(orderedBy(last)) : null,
  };
}
