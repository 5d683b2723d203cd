import { subjectOf } from '../../plan-of.test-kit.js';
import { sampleChange } from '../../sample-change.test-kit.js';
import type { Fields, Subject } from '../../sink.js';

/** Returns a change of a person's own record. Each revision has its own id. */
export function attendee(
  key: string,
  data: Fields | null,
  { revision = 1, ...around }: Partial<Subject> & { readonly revision?: number } = {},
): Subject {
  const change = sampleChange({
    id: `change-${key}-${revision}`,
    type: `attendees.${data === null ? 'deleted' : 'updated'}`,
    list: 'attendees',
    key,
    revision,
    data,
    timestamp: '2026-11-21T09:30:00.000Z',
  });
  const pigeonhole = { id: 101, name: 'Summit', timezone: 'Europe/Berlin' };
  return subjectOf(change, { pigeonhole, attendee: data, ...around });
}
