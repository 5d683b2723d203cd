import { type Candidate, newChanges, toCandidates } from './candidates.js';
import type { Collaborators } from '../cycles/collaborators.js';
import type { LaneSettings } from './deliver-lane.js';
import type { Ledger } from '../ledger/ledger.js';
import { useIndexOrder } from '../ledger/sql-expressions.js';
import { addLane, noteObserved } from '../ledger/lanes.js';
import type { LockedLane } from '../ledger/lanes-leased.js';
import { addObserved, type ObservedCount, restartObservation } from '../ledger/observations.js';
import { type Foreseen, wouldSend } from './would-send.js';

/** Maximum number of changes per transaction. */
const sliceSize = 500;

/**
 * Decides on the changes in a sink's lanes and plans them as if to send them, but only counts the results.
 * @param mayContinue called before each slice
 * @returns false if changes are left
 */
export async function observeLanes(
  deps: Collaborators,
  lanesByPigeonhole: ReadonlyMap<number, LaneSettings>,
  mayContinue: () => boolean,
): Promise<boolean> {
  const [first] = lanesByPigeonhole.values();
  if (first === undefined) return true;
  const { ledger, configuration } = deps;
  const pigeonholeNumbers = [...lanesByPigeonhole.keys()];
  for (const pigeonholeNumber of await unobservedLanes(ledger, {
    sinkId: first.sink.id,
    pigeonholeNumbers,
    configuration,
  })) {
    for (let more = true; more;) {
      if (!mayContinue()) return false;
      more = await observeLane(deps, lanesByPigeonhole.get(pigeonholeNumber)!, pigeonholeNumber);
    }
  }
  return true;
}

interface LaneRow extends Omit<LockedLane, 'replaying'> {
  readonly observed: number | null;
  readonly configuration: number | null;
}

/**
 * Counts what would happen to the next changes of a lane. Observation has its own position and does not move the
 * watermark, so observed changes are still sent after the sink is approved. A new configuration restarts the counts.
 * Nothing is sent, so no lease is needed: the row lock serializes concurrent observers.
 * @returns true if there are more changes to observe
 */
async function observeLane(
  { ledger, config, configuration }: Pick<Collaborators, 'ledger' | 'config' | 'configuration'>,
  { sink, place, lists, selected }: LaneSettings,
  pigeonholeNumber: number,
): Promise<boolean> {
  const sinkId = sink.id;
  return await ledger.db.transaction(async (tx) => {
    await Promise.all([useIndexOrder(tx), addLane(tx, sinkId, pigeonholeNumber)]);
    const [lane] = await tx.query<LaneRow>(
      `select l.watermark, l.observed, l.observed_configuration as configuration, l.history_until as "historyUntil",
         l.history_since as "historySince", p.next_sequence - 1 as newest
       from lanes l join pigeonholes p on p.pigeonhole_number = l.pigeonhole_number where l.sink_id = $1
         and l.pigeonhole_number = $2 for update of l`,
      [sinkId, pigeonholeNumber],
    );
    const { watermark, newest, observed, configuration: observedConfiguration, ...history } = lane!;
    const continues = observed !== null && observedConfiguration === configuration;
    if (!continues) await restartObservation(tx, { sinkId, pigeonholeNumber });
    const after = continues ? Math.max(observed, watermark) : watermark;
    const { rows, reached } = await newChanges(
      tx,
      { sinkId, pigeonholeNumber, lists, after, newest, ...history },
      sliceSize,
    );
    const candidates = await toCandidates(tx, pigeonholeNumber, rows);
    const { accepts, onConsentWithdrawn } = sink;
    const mapping = config.sinks[sink.name]!;
    const foreseen = await wouldSend(
      tx,
      { sinkId, pigeonholeNumber, place, sink: sink.sink, lists, accepts, selected, onConsentWithdrawn, mapping },
      candidates,
    );
    const counts = countBy(foreseen.map((each, index) => outcomeOf(candidates[index]!, each)));
    await addObserved(tx, { sinkId, pigeonholeNumber }, counts);
    await noteObserved(tx, { sinkId, pigeonholeNumber }, { reached, configuration });
    return reached < newest;
  });
}

type Counted = Pick<ObservedCount, 'outcome' | 'reason'>;

function outcomeOf({ visibility }: Candidate, foreseen: Foreseen): Counted {
  switch (foreseen.kind) {
    case 'send':
      // A null visibility means that the item has no person.
      return { outcome: foreseen.identity || visibility === null ? 'send' : 'send-anonymous', reason: '' };
    case 'withhold':
      return { outcome: 'withhold', reason: foreseen.reason };
    case 'supersede':
      return { outcome: 'supersede', reason: '' };
    case 'fail':
      return { outcome: 'withhold', reason: foreseen.cause };
  }
}

function countBy(all: readonly Counted[]): ObservedCount[] {
  const counts = new Map<string, Counted & { changes: number }>();
  for (const each of all) {
    const name = `${each.outcome} ${each.reason}`;
    const known = counts.get(name);
    if (known === undefined) counts.set(name, { ...each, changes: 1 });
    else known.changes += 1;
  }
  return [...counts.values()];
}

/** Returns the pigeonholes with changes that the sink has not observed under this configuration. */
async function unobservedLanes(
  ledger: Ledger,
  {
    sinkId,
    pigeonholeNumbers,
    configuration,
  }: { sinkId: number; pigeonholeNumbers: readonly number[]; configuration: number },
): Promise<number[]> {
  const rows = await ledger.db.query<{ pigeonholeNumber: number }>(
    `select p.pigeonhole_number as "pigeonholeNumber" from pigeonholes p
       left join lanes l on l.pigeonhole_number = p.pigeonhole_number and l.sink_id = $1
     where p.pigeonhole_number = any($2::int4[]) and (l.observed is null or l.observed_configuration is distinct from $3
       or p.next_sequence - 1 > greatest(l.observed, l.watermark))
     order by p.pigeonhole_number`,
    [sinkId, pigeonholeNumbers, configuration],
  );
  return rows.map(({ pigeonholeNumber }) => pigeonholeNumber);
}
