import type { PropertyWrite, RecordStep } from './operation.js';
import { fieldsOf, type Fields } from '../sink.js';
import { listOf } from './classify.js';

/** The present value of a property. */
export interface PresentValue {
  /** Empty if there is no value. */
  readonly value: string;
  /** Time of the event that the value describes, if it is known; otherwise the time of the write. Unix time in ms. */
  readonly happenedAtMs: number;
}

/** Whether pigeonpost must know the present value before it can decide this write. */
export function needsPresent({ name, policy }: PropertyWrite): boolean {
  return policy !== 'always' || name === lifecycleStage;
}

/** The parts of a contact's name. The decision to write one part also depends on the value of the other. */
const nameParts = ['firstname', 'lastname'] as const;

/** Returns the properties whose present values are needed to decide the writes of a step. */
export function neededProperties({ objectType, write }: Pick<RecordStep, 'objectType' | 'write'>): string[] {
  const needed = write.filter(needsPresent).map(({ name }) => name);
  const fillsName = objectType === 'contacts' && nameParts.some((part) => needed.includes(part));
  return fillsName ? [...new Set([...needed, ...nameParts])] : needed;
}

/** Whether the decision also needs the time since which the property has its present value. */
export function needsHistory({ policy }: PropertyWrite): boolean {
  return policy === 'if-newer';
}

/**
 * Decides which properties are written. Pure. `always` writes a value if it differs from the present one, or the
 * present one is not known. `if-empty` and `if-newer` never clear a property, because its value may belong to another
 * system. A lifecycle stage is only moved forward, and first and last name are kept consistent.
 * @param present the present values by property; absent if the property was not read or the record does not exist yet
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
 * Removes a first or last name from the writes if it does not fit the contact's other name, unless its policy is
 * `always`. "Ada" is not put before a last name from another source, and a name of only one word does not become both
 * first and last name. Pure.
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

/** The contact property that says how far a contact is on the way to becoming a customer. */
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
 * Whether a contact may move to this stage. A contact only moves forward: someone who takes part in an event does not
 * stop being a customer. The position of a custom stage is not known, so it is written only to contacts without a
 * stage.
 */
function mayMoveStage(from: string, to: string): boolean {
  if (from === '') return to !== '';
  const [fromIndex, toIndex] = [stages.indexOf(from), stages.indexOf(to)];
  return fromIndex !== -1 && toIndex > fromIndex;
}

/**
 * Returns the time since which a property has its present value, Unix time in ms; undefined if it never had one or the
 * history is not available. A write of the same value may add an entry to the history, so the latest entries can be
 * equal. The oldest of these counts.
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

/** Parses a time from HubSpot, in ISO 8601 or Unix time in ms. Returns NaN for anything else. */
export function timeOf(found: unknown): number {
  if (typeof found === 'number') return found;
  if (typeof found !== 'string' || found === '') return Number.NaN;
  return /^\d+$/.test(found) ? Number(found) : Date.parse(found);
}

/**
 * Returns the present values of a record's properties with their times. If this sink wrote a value, its time is that of
 * the event. If this sink wrote the value for this item but no longer knows the event's time, the value counts as older
 * than any other, so that the item may replace it. Any other value has the time at which it was written.
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

/** The times of one write by this sink: that of the event, and that of the write. */
interface Written {
  readonly happenedAtMs: number;
  /** By HubSpot's clock, Unix time in ms. */
  readonly writtenAtMs: number;
}

/** Maximum number of values whose times are kept in memory, with about 100 bytes each. */
const most = 200_000;

/**
 * Stores the event times of the `if-newer` values that this sink wrote. They are kept in memory, and read from the
 * items' objects when a process starts. HubSpot knows only when a value was written. During an import of past events,
 * the time of the write does not show which of two values belongs to the newer event.
 */
export class EventTimes {
  readonly #written = new Map<string, Written>();
  #recalled: Promise<void> | undefined;

  remember(recordId: string, property: string, written: Written): void {
    const key = keyOf(recordId, property);
    this.#written.delete(key); // moves the key to the end, because the first key is removed if there are too many
    this.#written.set(key, written);
    if (this.#written.size > most) this.#written.delete(this.#written.keys().next().value!);
  }

  /**
   * Reads the times of values that were written before this process started. Reads them only once; later calls wait for
   * the first. Does not know writes that other processes make later.
   * @param made returns the items' objects from all lanes of the sink
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
   * Returns the event time of a property's present value; undefined if the last change was not a write by this sink.
   * @param changedAtMs time of the property's last change, by HubSpot's clock
   */
  of(recordId: string, property: string, changedAtMs: number): number | undefined {
    const written = this.#written.get(keyOf(recordId, property));
    return written !== undefined && changedAtMs <= written.writtenAtMs + clockToleranceMs
      ? written.happenedAtMs
      : undefined;
  }
}

/**
 * Maximum difference between the two times that HubSpot reports for one write: that of the record's update, and that of
 * the property's change.
 */
export const clockToleranceMs = 2000;

function keyOf(recordId: string, property: string): string {
  return `${recordId} ${property}`;
}
