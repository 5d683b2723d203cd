import { fieldsOf } from '../sink.js';
import { listOf } from './classify-answer.js';
import type { PresentValue } from './decide-writes.js';
import { clockToleranceMs, type EventTimes } from './event-times.js';
import type { RecordStep } from './operation.js';

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
