import type { PropertyWrite, RecordStep } from './operation.js';
import { fieldsOf, type Fields } from '../sink.js';
import { listOf } from './classify.js';

/** The present value of a property. */
export interface PresentValue {
  /** Empty if there is no value. */
  readonly value: string;
  /** Time of the event that the value describes if known, otherwise of the write. Unix time in ms. */
  readonly happenedAtMs: number;
}

/** Whether a write cannot be decided without the present value. */
export function needsPresent({ name, policy }: PropertyWrite): boolean {
  return policy !== 'always' || name === lifecycleStage;
}

/** The parts of a contact's name. Whether one is filled in also depends on the other. */
const nameParts = ['firstname', 'lastname'] as const;

/** The properties whose present values decide what a step writes. */
export function neededProperties({ objectType, write }: Pick<RecordStep, 'objectType' | 'write'>): string[] {
  const needed = write.filter(needsPresent).map(({ name }) => name);
  const fillsName = objectType === 'contacts' && nameParts.some((part) => needed.includes(part));
  return fillsName ? [...new Set([...needed, ...nameParts])] : needed;
}

/** Whether the decision also needs the time of the present value. */
export function needsHistory({ policy }: PropertyWrite): boolean {
  return policy === 'if-newer';
}

/**
 * Decides which properties are written. Pure. `always` writes values that differ or are not known; `if-empty` and
 * `if-newer` never clear a property, because its value may belong to another system. A lifecycle stage only moves
 * forward, and a name stays whole.
 * @param present by property; absent: not read, or the record does not exist yet
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
  return withWholeName(new Map(decided.map(({ name, value }) => [name, value])), writes, present);
}

/**
 * Drops a part of a name that does not fit the other part of the contact, unless it is always written: "Ada" does not
 * go before a last name from another source, and a name of one word becomes not both names. Pure.
 */
function withWholeName(
  decided: Map<string, string>,
  writes: readonly PropertyWrite[],
  present: ReadonlyMap<string, PresentValue>,
): Map<string, string> {
  for (const [part, other] of [nameParts, nameParts.toReversed()] as [string, string][]) {
    const write = writes.find(({ name }) => name === part);
    if (write === undefined || write.policy === 'always' || !decided.has(part)) continue;
    const there = decided.get(other) ?? present.get(other)?.value ?? '';
    const ours = writes.find(({ name }) => name === other)?.value ?? '';
    const fits = ours === '' ? !isSame(there, write.value) : isSame(there, ours);
    if (there !== '' && !fits) decided.delete(part);
  }
  return decided;
}

function isSame(one: string, other: string): boolean {
  return one.trim().toLowerCase() === other.trim().toLowerCase();
}

/** The contact property with the stage from first contact to customer. */
export const lifecycleStage = 'lifecyclestage';

/** HubSpot's default stages, in order. Source: HubSpot, "Lifecycle stages". */
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
 * Whether a contact may move to this stage: only forward, because an event never means that a customer is no longer
 * one. A custom stage has no known position, so it is only written to contacts without a stage.
 */
function mayMoveStage(from: string, to: string): boolean {
  if (from === '') return to !== '';
  const [fromIndex, toIndex] = [stages.indexOf(from), stages.indexOf(to)];
  return fromIndex !== -1 && toIndex > fromIndex;
}

/**
 * Returns since when a property has its present value, Unix time in ms; undefined if it never had one, or the history
 * is not available. Writing an equal value may add an entry to the history: the first of equal entries counts.
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

/** Parses an instant from HubSpot: ISO 8601, or epoch milliseconds. NaN for anything else. */
export function timeOf(found: unknown): number {
  if (typeof found === 'number') return found;
  if (typeof found !== 'string' || found === '') return Number.NaN;
  return /^\d+$/.test(found) ? Number(found) : Date.parse(found);
}

/**
 * Returns the present value of a property of a record. A value written by this sink has the time of its event, and one
 * written for this item is older than anything; any other value has the time of its write.
 */
export function presentValues(
  record: Readonly<Record<string, unknown>>,
  step: RecordStep,
  times: EventTimes,
): Map<string, PresentValue> {
  const id = String(record.id);
  const values = fieldsOf(record.properties);
  return new Map(
    [...new Set([...step.write.map(({ name }) => name), ...neededProperties(step)])].map((name) => {
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

/** A write by this sink, and the time of its event. */
interface Written {
  readonly happenedAtMs: number;
  /** By HubSpot's clock, Unix time in ms. */
  readonly writtenAtMs: number;
}

/** Maximum number of values in memory: about 100 bytes each. */
const most = 200_000;

/**
 * Event times of the `if-newer` values that this sink wrote: kept in memory, and read from the items' objects when a
 * process starts. HubSpot only knows when a value was written, which says nothing about the newer event while history
 * is imported.
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
   * Reads, once, what was written before this process started; later calls wait for the first. Writes of other
   * processes after that are not known here.
   * @param made the items' objects, on all lanes of the sink
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

  /**
   * Returns the event time of a value if this sink wrote it.
   * @param changedAtMs time of the last change, by HubSpot's clock
   */
  of(recordId: string, property: string, changedAtMs: number): number | undefined {
    const written = this.#written.get(keyOf(recordId, property));
    return written !== undefined && changedAtMs <= written.writtenAtMs + clockToleranceMs
      ? written.happenedAtMs
      : undefined;
  }
}

/** Longest difference between HubSpot's times for the update of a record and the change of its property. */
export const clockToleranceMs = 2000;

function keyOf(recordId: string, property: string): string {
  return `${recordId} ${property}`;
}
