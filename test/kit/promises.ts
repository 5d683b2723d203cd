import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../until.js';
import { type ArchivedChange, wholeLines } from './archive.js';
import { type HeldChange, lackOf } from './compare-with-truth.js';
import type { Program } from './processes.js';
import { seededRandom } from './random.js';

/** Checks of the product's promises for two sinks against the source, for tests that kill processes. */

/** Whether the file sink's default accepts a consent: everything except refusals. */
export function notRefused(consent: unknown): boolean {
  return (consent as { obtained?: unknown } | null | undefined)?.obtained !== false;
}

/** Whether the webhook sink's default accepts a consent. */
export function obtained(consent: unknown): boolean {
  return (consent as { obtained?: unknown } | null | undefined)?.obtained === true;
}

/** Returns the changes in the log of the receiver, which is written before each answer. */
export function received(folder: string): HeldChange[] {
  const receipts = join(folder, 'receipts.ndjson');
  if (!existsSync(receipts)) return []; // nothing was received yet
  return wholeLines(receipts).map((line) => (JSON.parse(line) as { change: HeldChange }).change);
}

export async function untilNothingLacks(
  what: string,
  held: () => HeldChange[],
  baseUrl: string,
  accepts: (consent: unknown) => boolean,
): Promise<void> {
  let lacks: string[] = [];
  await until(`${what} holds all that the source shows`, async () => {
    lacks = await lackOf(held(), baseUrl, accepts);
    return lacks.length === 0;
  }).catch((error: unknown) => {
    throw new Error(`${what} lacks ${lacks.length}, among them ${lacks.slice(0, 3).join(' | ')}`, { cause: error });
  });
}

/** Expects each revision of an item exactly once, without missing revisions, and sequences in order. */
export function expectOnce(lines: readonly ArchivedChange[]): void {
  const seen = new Map<string, number>();
  for (const { pigeonholeId, list, key, revision } of lines) {
    const name = `${pigeonholeId} ${list} ${key} ${revision}`;
    seen.set(name, (seen.get(name) ?? 0) + 1);
  }
  expect([...seen].filter(([, n]) => n > 1)).toEqual([]);
  const highest = new Map<string, number>();
  for (const { pigeonholeId, list, key, revision } of lines) {
    const name = `${pigeonholeId} ${list} ${key}`;
    highest.set(name, Math.max(highest.get(name) ?? 0, revision));
  }
  const holes = [...highest].filter(([name, last]) =>
    name.includes(' attendees ')
      ? false // a withheld revision is missing on purpose
      : Array.from({ length: last }, (_, index) => index + 1).some((revision) => !seen.has(`${name} ${revision}`)),
  );
  expect(holes).toEqual([]);
}

/**
 * Expects changes in order, and the same bytes in each repeat of an id. The only exception: a later attempt may omit
 * the person if their consent or anonymity has changed.
 */
export async function expectSameBytes(hook: string, folder: string): Promise<void> {
  const summary = (await (await fetch(new URL('/_control/summary', hook))).json()) as {
    lists: Record<string, { outOfOrder: number }>;
  };
  for (const [list, { outOfOrder }] of Object.entries(summary.lists)) {
    expect({ list, outOfOrder }).toEqual({ list, outOfOrder: 0 });
  }
  const before = new Map<string, string>();
  for (const change of received(folder) as (HeldChange & { id: string })[]) {
    const first = before.get(change.id);
    const text = JSON.stringify(change);
    if (first !== undefined && first !== text) {
      expect(text).toBe(JSON.stringify(withoutPerson(JSON.parse(first) as HeldChange)));
    }
    before.set(change.id, text);
  }
}

function withoutPerson(change: HeldChange): HeldChange {
  const { attendeeId: _, attendee, ...data } = change.data ?? {};
  return { ...change, data: attendee === undefined ? data : { attendee: { anonymous: true }, ...data } };
}

export async function endAll(programs: readonly Program[]): Promise<void> {
  for (const program of programs) program.kill('SIGTERM');
  await Promise.all(programs.map((program) => program.exited));
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Returns a random number generator and prints its seed, so that a run can be repeated. */
export function seeded(seed: number): () => number {
  console.log(`seed of the kills: ${seed} (CRASH_SEED)`);
  return seededRandom(seed);
}
