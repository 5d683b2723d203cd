import type { PresentValue } from '../records/decide-values.js';
import { needsPresent as dependsOnPresent } from '../records/decide-values.js';
import { fieldsOf } from '../sink.js';
import { listOf } from './classify.js';
import { clockToleranceMs, type EventTimes } from './event-times.js';
import { lifecycleStage } from './lifecycle-stage.js';
import type { PropertyWrite, RecordStep } from './operation.js';

/** Whether pigeonpost must know the present value before it can decide this write. */
export function needsPresent(write: PropertyWrite): boolean {
  return dependsOnPresent(write) || write.name === lifecycleStage;
}

/** The parts of a contact's name. The decision to write one part also depends on the value of the other. */
export const nameParts = ['firstname', 'lastname'] as const;

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
 * Returns the present values of the properties that were read for the decisions of a step, with their times. If this
 * sink wrote a value, its time is that of the event. If this sink wrote the value for this item but no longer knows the
 * event's time, the value counts as older than any other, so that the item may replace it. Any other value has the time
 * at which it was written.
 */
export function presentValues(
  record: Readonly<Record<string, unknown>>,
  step: RecordStep,
  times: EventTimes,
): Map<string, PresentValue> {
  const values = fieldsOf(record.properties);
  const isOurs = step.isUnsure ? 'maybe' : false;
  return new Map(
    neededProperties(step).map((name) => [
      name,
      { value: values[name], happenedAtMs: happenedAtMs(record, step, times, name), isOurs },
    ]),
  );
}

/** Returns the time of the present value of one property, as `presentValues` does. */
export function happenedAtMs(
  record: Readonly<Record<string, unknown>>,
  step: Pick<RecordStep, 'writtenAtMs'>,
  times: EventTimes,
  name: string,
): number {
  const changed = changedAtMs(record, name);
  if (changed === undefined) return Number.NEGATIVE_INFINITY;
  const ours = times.of(String(record.id), name, changed);
  if (ours !== undefined) return ours;
  const written = step.writtenAtMs[name];
  return written !== undefined && changed <= written + clockToleranceMs ? Number.NEGATIVE_INFINITY : changed;
}
