import type { Config } from '../config/config.js';
import type { Ledger } from '../ledger/ledger.js';
import { redriveDead } from '../ledger/deliveries.js';
import { makeDue } from '../ledger/lanes.js';
import { lockLanesOf } from '../ledger/lock-order.js';
import { namesOfSinks } from '../ledger/sinks.js';
import { causesOfUnknownOutcome } from '../sinks/all-reasons.js';
import { isSent, sentByValue } from './lane-plans.js';

/** Changes of one list that a sink refused for one cause. */
export interface DeadLetterGroup {
  readonly sink: string;
  readonly cause: string;
  readonly list: string;
  readonly changes: number;
  readonly oldest: Date;
  readonly newest: Date;
  /** The destination's answer to the newest change, as a sentence without personal data. */
  readonly detail: string | null;
}

/** A change that a sink refused. */
export interface DeadLetter {
  readonly sink: string;
  readonly cause: string;
  readonly workspace: string;
  readonly pigeonholeId: number;
  readonly list: string;
  readonly key: string;
  readonly revision: number;
  readonly attempts: number;
  readonly since: Date;
  readonly detail: string | null;
}

/** Position in a list of dead letters: the next page starts after it. */
export interface DeadLetterPosition {
  /** Time in the database's text form with microseconds, because a Date has only milliseconds. */
  readonly since: string;
  readonly sinkId: number;
  readonly pigeonholeNumber: number;
  readonly sequence: number;
  readonly replay: number;
}

/** Filter for dead letters. An absent member matches every dead letter. */
export interface DeadLetterChoice {
  readonly workspace?: string | undefined;
  /** `<workspace>/<id>`. */
  readonly pigeonhole?: string | undefined;
  readonly sink?: string | undefined;
  readonly cause?: string | undefined;
  readonly list?: string | undefined;
  readonly key?: string | undefined;
  /** Selects the dead letters of lanes to which this configuration still sends. */
  readonly sentBy?: Pick<Config, 'syncs'> | undefined;
}

const chosen = `d.state = 'dead' and s.archived_at is null and ($1::text is null or s.name = $1)
  and ($2::text is null or d.reason = $2) and ($3::text is null or d.list = $3) and ($4::text is null or d.key = $4)
  and (coalesce($5::text, $6::text) is null or d.pigeonhole_number in (select w.pigeonhole_number from pigeonholes w
    where ($5::text is null or w.workspace = $5) and ($6::text is null or w.workspace || '/' || w.pigeonhole_id = $6)))
  and ${isSent('d.sink_id, d.pigeonhole_number', '$7')}`;

function valuesOf(choice: DeadLetterChoice): (string | null)[] {
  const { sink, cause, list, key, workspace, pigeonhole, sentBy } = choice;
  const texts = [sink, cause, list, key, workspace, pigeonhole];
  return [...texts.map((text) => text ?? null), sentByValue(sentBy)];
}

/** Returns dead letters by sink, cause and list, largest group first. */
export async function deadLetterGroups(ledger: Ledger, choice: DeadLetterChoice): Promise<DeadLetterGroup[]> {
  return await ledger.db.query<DeadLetterGroup>(
    `select s.name as sink, d.reason as cause, d.list, count(*)::int as changes, min(d.updated_at) as oldest,
       max(d.updated_at) as newest, (array_agg(d.detail order by d.updated_at desc))[1] as detail
     from deliveries d join sinks s on s.id = d.sink_id where ${chosen}
     group by s.name, d.reason, d.list order by changes desc, s.name, d.reason, d.list`,
    valuesOf(choice),
  );
}

/**
 * Returns dead letters, oldest first.
 * @param after position of the last dead letter of the previous page; null: from the beginning
 */
export async function deadLetters(
  ledger: Ledger,
  choice: DeadLetterChoice,
  { after, limit }: { readonly after: DeadLetterPosition | null; readonly limit: number },
): Promise<(DeadLetter & { readonly position: DeadLetterPosition })[]> {
  const rows = await ledger.db.query<DeadLetter & Omit<DeadLetterPosition, 'since'> & { since_text: string }>(
    `select s.name as sink, d.reason as cause, p.workspace, p.pigeonhole_id as "pigeonholeId", d.list, d.key, d.revision,
       d.attempts, d.updated_at as since, d.detail,
       to_char(d.updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as since_text, d.sink_id as "sinkId",
       d.pigeonhole_number as "pigeonholeNumber", d.sequence, d.replay
     from deliveries d join sinks s on s.id = d.sink_id join pigeonholes p on p.pigeonhole_number = d.pigeonhole_number
       where ${chosen}
       and ($8::text is null
         or (d.updated_at, d.sink_id, d.pigeonhole_number, d.sequence, d.replay) > ($8::timestamptz, $9::int4,
           $10::int4, $11::int8, $12::int4))
     order by d.updated_at, d.sink_id, d.pigeonhole_number, d.sequence, d.replay limit $13`,
    [
      ...valuesOf(choice),
      after?.since ?? null,
      after?.sinkId ?? null,
      after?.pigeonholeNumber ?? null,
      after?.sequence ?? null,
      after?.replay ?? null,
      limit,
    ],
  );
  return rows.map(({ since_text: text, sinkId, pigeonholeNumber, sequence, replay, ...row }) => ({
    ...row,
    position: { since: text, sinkId, pigeonholeNumber, sequence, replay },
  }));
}

/** An item whose dead letters are chosen. */
export interface ChosenItem {
  /** `<workspace>/<id>`. */
  readonly pigeonhole: string;
  readonly list: string;
  readonly key: string;
}

/** Dead letters of one pigeonhole that a redrive would send. */
export interface RedrivePart {
  readonly workspace: string;
  readonly pigeonholeId: number;
  readonly changes: number;
  /** Those whose item has changed since: a sink of records receives its present state instead. */
  readonly changedSince: number;
  /** Those that the sink may already have received. */
  readonly mayRepeat: number;
  /** Those that remove people who withdrew consent, and that the redrive confirms. */
  readonly confirmed: number;
}

/** Returns what a redrive would send, by pigeonhole. */
export async function planRedrive(ledger: Ledger, choice: DeadLetterChoice): Promise<RedrivePart[]> {
  return await ledger.db.query<RedrivePart>(
    `select p.workspace, p.pigeonhole_id as "pigeonholeId", count(*)::int as changes,
       (count(*) filter (where i.last_sequence > d.sequence))::int as "changedSince",
       (count(*) filter (where d.reason = any($8::text[])))::int as "mayRepeat",
       (count(*) filter (where d.reason = $9))::int as confirmed
     from deliveries d join sinks s on s.id = d.sink_id join pigeonholes p on p.pigeonhole_number = d.pigeonhole_number
       left join lateral (select last_sequence from items where pigeonhole_number = d.pigeonhole_number and list = d.list
         and key = d.key limit 1) i on true
     where ${chosen} group by 1, 2 order by changes desc, 1, 2`,
    [...valuesOf(choice), causesOfUnknownOutcome, withdrawalsHeld],
  );
}

/**
 * Makes dead letters due again and resets their attempts. If the sink receives only the latest revision and the item
 * has a newer one, the next delivery cycle supersedes the dead letter instead of sending it.
 * @param items only those of these items; null: all
 * @returns the number of dead letters, and the names of the sinks to wake
 */
export async function redriveDeadLetters(
  ledger: Ledger,
  choice: DeadLetterChoice,
  items: readonly ChosenItem[] | null = null,
): Promise<{ changes: number; woken: string[] }> {
  return await ledger.db.transaction(async (tx) => {
    await lockLanesOf(tx, choice.sink ?? null);
    const amongItems = `exists (select 1 from unnest($8::text[], $9::text[], $10::text[]) as n (place, list, key)
      join pigeonholes w on w.workspace || '/' || w.pigeonhole_id = n.place
      where w.pigeonhole_number = d.pigeonhole_number and n.list = d.list and n.key = d.key)`;
    const of =
      items === null
        ? { condition: chosen, values: valuesOf(choice) }
        : {
            condition: `${chosen} and ${amongItems}`,
            values: [
              ...valuesOf(choice),
              items.map(({ pigeonhole }) => pigeonhole),
              items.map(({ list }) => list),
              items.map(({ key }) => key),
            ],
          };
    const lanes = await redriveDead(tx, of, withdrawalsHeld);
    await makeDue(tx, lanes);
    const woken = await namesOfSinks(tx, [...new Set(lanes.map(({ sinkId }) => sinkId))]);
    return { changes: lanes.reduce((sum, { changes }) => sum + changes, 0), woken };
  });
}

/**
 * The engine's cause of dead letters that the sink may or may not have received. Only an operator can find out which,
 * and sending them again might create duplicates in the sink.
 */
export const outcomeUnknown = 'outcome-unknown';

/** The cause of removals that are dead letters until an operator confirms them. */
export const withdrawalsHeld = 'withdrawals-held';

/**
 * Causes that a new configuration does not resolve, because an operator has to decide: unknown outcomes and held
 * removals.
 */
export const waitsForAPerson: readonly string[] = [...causesOfUnknownOutcome, withdrawalsHeld];
