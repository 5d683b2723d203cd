import { eventTimes } from '../../reading/event-times.js';
import { PermitRefusal } from '../../work/asking/permit-refusal.js';
import type { ReadyCheck } from '../../api/readiness.js';
import type { ApiError } from '../../pigeonhole/api-error.js';

const about = { id: 'event', label: 'The event at the service' };

/** Whether the service knows the pigeonhole, takes the key, and means it to take place. Pure. */
export function judgeService(
  {
    item,
    failure,
  }: { readonly item: Readonly<Record<string, unknown>> | null; readonly failure: ApiError | PermitRefusal | null },
  now: number,
): ReadyCheck {
  if (failure !== null) return judgeFailure(failure);
  const { startsAt, endsAt } = eventTimes(item);
  const status = typeof item?.['status'] === 'string' ? item['status'] : null;
  const days = `${String(item?.['startDate'])} to ${String(item?.['endDate'])}`;
  if (startsAt === null || endsAt === null) {
    return {
      ...about,
      state: 'warning',
      says: 'the service answers, and tells no days on which the event takes place',
      todo: 'enter them in the dashboard of the service',
    };
  }
  const says = `the service knows it${status === null ? '' : ` as ${status}`}, ${days}`;
  if (status === 'ended' || endsAt <= now) {
    return {
      ...about,
      state: 'warning',
      says: `${says}: it is over`,
      todo: 'see that this is the event that you mean',
    };
  }
  return { ...about, state: 'ok', says };
}

function judgeFailure(failure: ApiError | PermitRefusal): ReadyCheck {
  const asSeen = 'the lines below go by what was seen last';
  if (failure instanceof PermitRefusal) {
    return { ...about, state: 'unknown', says: `${failure.message}; ${asSeen}`, todo: 'ask again later' };
  }
  const passes = ['quota', 'throttled', 'transient', 'aborted'].includes(failure.kind);
  return {
    ...about,
    state: passes ? 'unknown' : 'failed',
    says: `${failure.message}; ${asSeen}`,
    todo: passes ? 'ask again in a minute' : 'pigeonpost check',
  };
}
