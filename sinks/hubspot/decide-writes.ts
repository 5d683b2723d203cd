import type { PropertyWrite, RecordStep } from './operation.js';
import { fieldsOf, type Fields } from '../sink.js';
import { listOf } from './classify.js';

/** What stands in a record now, of the properties that were asked for. */
export interface PresentValue {
  /** Empty: there is none. */
  readonly value: string;
  /** When what it tells of happened, as far as is known: for what others wrote, when they wrote it. Unix time in ms. */
  readonly happenedAtMs: number;
}

/** Whether a write cannot be decided without the present value. */
export function needsPresent({ name, policy }: PropertyWrite): boolean {
  return policy !== 'always' || name === lifecycleStage;
}

/** Whether deciding takes the time of the present value as well. */
export function needsHistory({ policy }: PropertyWrite): boolean {
  return policy === 'if-newer';
}

/**
 * Which properties are written. Pure. `always` writes what differs or is not known; `if-empty` and `if-newer` are never
 * used to clear anything, for what stands there may be another's. A lifecycle stage only moves forward.
 * @param present by property; absent: not read, or there is no such record yet
 */
export function decideWrites(
  writes: readonly PropertyWrite[],
  present: ReadonlyMap<string, PresentValue>,
  happenedAtMs: number,
): Map<string, string> {
  const decided = writes.filter((write) => {
    const { name, value, policy } = write;
    const now = present.get(name);
    if (now !== undefined && now.value === value) return false;
    const empty = now === undefined || now.value === '';
    if (name === lifecycleStage && !mayMoveStage(now?.value ?? '', value)) return false;
    switch (policy) {
      case 'always':
        return true;
      case 'if-empty':
        return empty && value !== '';
      case 'if-newer':
        return value !== '' && (empty || happenedAtMs > now.happenedAtMs);
    }
  });
  return new Map(decided.map(({ name, value }) => [name, value]));
}

/** The contact property that tells how far someone is on the way to being a customer. */
export const lifecycleStage = 'lifecyclestage';

/** HubSpot's own stages, in their order. Source: HubSpot, "Lifecycle stages". */
const stages = [
  'subscriber',
  'lead',
  'marketingqualifiedlead',
  'salesqualifiedlead',
  'opportunity',
  'customer',
  'evangelist',
];

/**
 * Whether a contact may be given this stage: only forward, since an event says nothing about a customer ceasing to be
 * one. A stage that an account has made itself has no known place, so it is written to contacts without any alone.
 */
function mayMoveStage(from: string, to: string): boolean {
  if (from === '') return to !== '';
  const [fromIndex, toIndex] = [stages.indexOf(from), stages.indexOf(to)];
  return fromIndex !== -1 && toIndex > fromIndex;
}

/**
 * Since when a property of a record has its present value, Unix time in ms; undefined: it never had one, or nobody says.
 * Writing what stands there already may make a new entry of the history: the first of a run of equals counts.
 */
export function changedAtMs(record: Readonly<Record<string, unknown>>, property: string): number | undefined {
  const newestFirst = listOf(fieldsOf(record.propertiesWithHistory)[property])
    .map(fieldsOf)
    .map(({ value, timestamp }) => ({ value: value ?? '', atMs: timeOf(timestamp) }))
    .filter(({ atMs }) => !Number.isNaN(atMs))
    .sort((a, b) => b.atMs - a.atMs);
  const other = newestFirst.findIndex(({ value }) => value !== newestFirst[0]!.value);
  return newestFirst.at(other === -1 ? -1 : other - 1)?.atMs;
}

/** An instant as HubSpot writes it: ISO 8601, or epoch milliseconds. NaN: it is none. */
export function timeOf(found: unknown): number {
  if (typeof found === 'number') return found;
  if (typeof found !== 'string' || found === '') return Number.NaN;
  return /^\d+$/.test(found) ? Number(found) : Date.parse(found);
}

/**
 * What stands in a record that was read, for deciding what to write. A value of ours tells of the event that we wrote
 * it for, and one that this same item wrote is older than anything; another's value tells of the moment it was written.
 */
export function presentValues(
  record: Readonly<Record<string, unknown>>,
  step: RecordStep,
  times: EventTimes,
): Map<string, PresentValue> {
  const id = String(record.id);
  const values = fieldsOf(record.properties);
  return new Map(
    step.write.map(({ name }) => {
      const value = values[name];
      const changed = changedAtMs(record, name);
      return [name, { value: typeof value === 'string' ? value : '', happenedAtMs: happened(id, name, changed) }];
    }),
  );

  function happened(id: string, name: string, changed: number | undefined): number {
    if (changed === undefined) return Number.NEGATIVE_INFINITY;
    const ours = times.of(id, name, changed);
    if (ours !== undefined) return ours;
    const written = step.writtenAtMs[name];
    return written !== undefined && changed <= written + clockToleranceMs ? Number.NEGATIVE_INFINITY : changed;
  }
}

/** When something that others wrote as well was written by us, and what it tells of. */
interface Written {
  readonly happenedAtMs: number;
  /** By HubSpot's clock, Unix time in ms. */
  readonly writtenAtMs: number;
}

/** Most values that are remembered: about 100 bytes each. */
const most = 200_000;

/**
 * What each `if-newer` value that this sink wrote tells of: remembered by the process, and at its start recalled from what
 * the sink has made of items. HubSpot knows when a value was written; for what was
 * written while history is caught up, that says nothing about which event is newer.
 */
export class EventTimes {
  readonly #written = new Map<string, Written>();
  #recalled: Promise<void> | undefined;

  remember(recordId: string, property: string, written: Written): void {
    const key = keyOf(recordId, property);
    this.#written.delete(key); // to the end of the order in which the oldest are forgotten
    this.#written.set(key, written);
    if (this.#written.size > most) this.#written.delete(this.#written.keys().next().value!);
  }

  /**
   * Takes up what was written before this process began, once: later calls wait for the first. What another process writes
   * from then on is not known here.
   * @param made what the sink has made of items, on all its lanes
   */
  async recall(made: () => AsyncIterable<Fields>): Promise<void> {
    this.#recalled ??= this.#recallAll(made()).catch((error: unknown) => {
      this.#recalled = undefined;
      throw error;
    });
    await this.#recalled;
  }

  async #recallAll(made: AsyncIterable<Fields>): Promise<void> {
    for await (const object of made) {
      for (const { id, writtenAtMs, tellsOfMs } of Object.values(object).map(fieldsOf)) {
        for (const [property, happenedAtMs] of Object.entries(fieldsOf(tellsOfMs))) {
          const atMs = fieldsOf(writtenAtMs)[property];
          if (typeof id !== 'string' || typeof happenedAtMs !== 'number' || typeof atMs !== 'number') continue;
          const known = this.#written.get(keyOf(id, property));
          if (known === undefined || known.writtenAtMs < atMs) {
            this.remember(id, property, { happenedAtMs, writtenAtMs: atMs });
          }
        }
      }
    }
  }

  /** When what stands there happened, if it is ours. @param changedAtMs when it was last changed, by HubSpot's clock */
  of(recordId: string, property: string, changedAtMs: number): number | undefined {
    const written = this.#written.get(keyOf(recordId, property));
    return written !== undefined && changedAtMs <= written.writtenAtMs + clockToleranceMs
      ? written.happenedAtMs
      : undefined;
  }
}

/** Between the instants that HubSpot gives to a record's update and to the change of its property. */
export const clockToleranceMs = 2000;

function keyOf(recordId: string, property: string): string {
  return `${recordId} ${property}`;
}
