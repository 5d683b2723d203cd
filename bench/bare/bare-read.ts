import { Pool } from 'undici';
import { z } from 'zod';
import { hash } from 'node:crypto';

/** The last step that the bare loop performs on each page. */
export type BareDepth = 'bodies' | 'parse' | 'upsert';

/** A row of a page, as it is stored. */
export interface BareRow {
  readonly key: string;
  readonly hash: string;
  readonly json: string;
}

const attendee = z.looseObject({
  id: z.int(),
  registrantId: z.int().nullish(),
  attendeeCode: z.string().nullish(),
  signInTime: z.string().nullish(),
  consent: z.looseObject({ obtained: z.boolean().nullish(), obtainedAt: z.string().nullish() }).nullish(),
  linkedIn: z.looseObject({ url: z.string().nullish() }).nullish(),
  twitter: z.looseObject({ screenName: z.string().nullish() }).nullish(),
});
const page = z.looseObject({
  data: z.array(attendee),
  meta: z.looseObject({ hasMore: z.boolean(), nextCursor: z.string().nullable() }),
});

interface BareReadOptions {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly pigeonholeId: number;
  readonly depth: BareDepth;
  /** Stores a page. The next one is requested afterwards. */
  readonly keep: (rows: readonly BareRow[]) => Promise<void>;
}

export interface BareResult {
  /** 0 if only bodies are read. */
  readonly items: number;
  readonly requests: number;
}

/**
 * A simple loop without overhead: requests a page on one connection, processes and stores it, and requests the next
 * one. It shares no code with the product, so that both cannot be slow for the same reason.
 */
export async function bareRead({ baseUrl, apiKey, pigeonholeId, depth, keep }: BareReadOptions): Promise<BareResult> {
  const pool = new Pool(baseUrl, { connections: 1 });
  const path = `/v2/pigeonholes/${pigeonholeId}/attendees?count=300`;
  let items = 0;
  let requests = 0;
  for (let cursor: string | null = ''; cursor !== null;) {
    const { body } = await pool.request({
      method: 'GET',
      path: cursor === '' ? path : `${path}&cursor=${encodeURIComponent(cursor)}`,
      headers: { 'x-api-key': apiKey },
    });
    requests += 1;
    if (depth === 'bodies') {
      cursor = cursorIn(Buffer.from(await body.bytes()));
      continue;
    }
    const parsed = (await body.json()) as z.infer<typeof page>;
    items += parsed.data.length;
    if (depth === 'upsert') await keep(page.parse(parsed).data.map(rowOf));
    cursor = parsed.meta.hasMore ? parsed.meta.nextCursor : null;
  }
  await pool.close();
  return { items, requests };
}

/** Finds the cursor, the last property of the envelope, without parsing the items. */
function cursorIn(body: Buffer): string | null {
  return /"nextCursor":"([^"]+)"/.exec(body.toString('latin1', Math.max(0, body.length - 500)))?.[1] ?? null;
}

function rowOf(item: { readonly id: number }): BareRow {
  const json = canonical(item);
  return { key: String(item.id), hash: hash('sha256', json), json };
}

/** Sorts properties, so that the same item always has the same hash. */
function canonical(value: unknown): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(',')}}`;
}
