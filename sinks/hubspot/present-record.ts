import { fieldsOf, listOf } from './classify-answer.js';
import type { PresentValue } from './decide-writes.js';
import { clockToleranceMs, type EventTimes } from './event-times.js';
import type { RecordStep } from './operation.js';

/** When a property of a record was last changed, Unix time in ms; undefined: it never had a value, or nobody says. */
export function changedAtMs(record: Readonly<Record<string, unknown>>, property: string): number | undefined {
  const times = listOf(fieldsOf(record.propertiesWithHistory)[property])
    .map((entry) => timeOf(fieldsOf(entry).timestamp))
    .filter((time) => !Number.isNaN(time));
  return times.length === 0 ? undefined : Math.max(...times);
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
