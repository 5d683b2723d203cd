import { z } from '@hono/zod-openapi';
import type { Ledger } from '../ledger/ledger.js';
import { findPerson, type PersonName, type PersonPlace } from '../people/forget/find-person.js';
import { Refused } from './problem.js';

/** Who is meant: in the body of a request, since addresses of requests are kept by proxies. */
export const personText = z
  .string()
  .trim()
  .min(1)
  .max(400)
  .describe(
    'The id of an attendee, an attendee code or an e-mail address; `id:42`, `code:42` or `email:…` where it could be two.',
  );

/** What a text may name. Pure. An id means one attendee; a code or an address whoever has it, in every pigeonhole. */
export function waysToName(text: string): Pick<PersonName, 'by' | 'text'>[] {
  const [, by, rest] = /^(id|code|email):(.+)$/s.exec(text) ?? [];
  if (by !== undefined && rest !== undefined) return [{ by: by as PersonName['by'], text: rest.trim() }];
  const isId = /^[1-9]\d{0,15}$/.test(text) && Number.isSafeInteger(Number(text));
  return [
    ...(isId ? [{ by: 'id' as const, text }] : []),
    ...(text.includes('@') ? [{ by: 'email' as const, text }] : []),
    { by: 'code', text },
  ];
}

/**
 * Everybody whom a text means; none when nobody is known by it.
 * @throws {Refused} 409 when it is the id of one person and the code of another
 */
export async function namedPerson(ledger: Ledger, text: string, workspace: string | null): Promise<PersonPlace[]> {
  const found: PersonPlace[][] = [];
  for (const way of waysToName(text)) {
    // oxlint-disable-next-line no-await-in-loop -- two of them, each reads whole lists
    const places = await findPerson(ledger, { ...way, workspace });
    if (places.length > 0 && !found.some((other) => isSame(other, places))) found.push(places);
  }
  if (found.length > 1) {
    throw new Refused(409, 'this is the id of one person and the code of another: write it as id:… or as code:…');
  }
  return found[0] ?? [];
}

function isSame(a: readonly PersonPlace[], b: readonly PersonPlace[]): boolean {
  const told = (places: readonly PersonPlace[]): string =>
    JSON.stringify(
      places
        .map(({ ref, attendeeIds }) => [ref, [...attendeeIds].toSorted((x, y) => x - y)])
        .toSorted((x, y) => Number(x[0]) - Number(y[0])),
    );
  return told(a) === told(b);
}
