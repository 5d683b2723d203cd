import type { Queryable } from './drivers/database.js';
import { openIntents } from './intents.js';
import { raiseAsked } from './pigeonholes-asked.js';
import type { PageScope } from './items/write-changes.js';

/*
 * The order in which transactions lock shared rows, so that no two wait for each other:
 *
 * 1. rows of imports, by number. A transaction that changes rows of several imports locks all of them first, because the
 *    kept counts of an import (`import_counts`) are written with its rows
 * 2. the row of a pigeonhole
 * 3. rows of lanes, by sink and then by pigeonhole
 * 4. everything else of the pigeonhole or the lane: streams, items, changes, deliveries
 * 5. rows of sinks, by id
 *
 * A transaction that locks several of these follows this order. Deliveries are only written under their lane's lock, and
 * stored payloads only under their pigeonhole's.
 */

/** A pigeonhole whose row is locked. Together with a list and a stream, it is the scope of a write. */
export type LockedPlace = Pick<PageScope, 'pigeonholeNumber' | 'workspace' | 'pigeonholeId' | 'nextSequence'>;

/**
 * Locks a pigeonhole's row until commit. Meanwhile no other transaction can assign sequences or write items in the
 * pigeonhole.
 */
export async function lockPlace(tx: Queryable, pigeonholeNumber: number): Promise<LockedPlace | undefined> {
  const [place] = await tx.query<LockedPlace>(
    `select pigeonhole_number as "pigeonholeNumber", workspace, pigeonhole_id as "pigeonholeId",
       next_sequence as "nextSequence" from pigeonholes
     where pigeonhole_number = $1 for no key update`,
    [pigeonholeNumber],
  );
  return place;
}

/**
 * Locks a pigeonhole's row and all its lanes until commit, and turns their intents into deliveries. Use it in a
 * transaction that removes stored payloads and has to know which sinks received them. A sender reads payloads only
 * under its lane's lock, and its deliveries and its intent become visible when it commits. A lane that is added
 * meanwhile waits for the pigeonhole's row (`addLane`). Also tells the pigeonhole's reader, which may remember what is
 * removed.
 */
export async function lockPlaceWithLanes(tx: Queryable, pigeonholeNumber: number): Promise<LockedPlace | undefined> {
  const place = await lockPlace(tx, pigeonholeNumber);
  await raiseAsked(tx, [pigeonholeNumber]);
  await tx.query('select 1 from lanes where pigeonhole_number = $1 order by sink_id for update', [pigeonholeNumber]);
  await openIntents(tx, pigeonholeNumber);
  return place;
}

/** Locks all lanes of a sink until commit. @param sink null: the lanes of all sinks */
export async function lockLanesOf(tx: Queryable, sink: string | null): Promise<void> {
  await tx.query(
    `select 1 from lanes l join sinks s on s.id = l.sink_id where ($1::text is null or s.name = $1)
     order by l.sink_id, l.pigeonhole_number for update of l`,
    [sink],
  );
}
