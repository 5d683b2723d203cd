import type { JsonObject } from '../json.js';
import type { ListName } from '../list-name.js';
import type { FilterFields } from '../store/item-table.js';
import { CLOUD_STATUSES } from '../world/poll-source.js';
import { isTimezone } from '../world/zoned-time.js';

const PIGEONHOLE_STATUSES = ['new', 'upcoming', 'live', 'ended'];

/** The filters of a query, without unsupported names and values. */
export interface Filters {
  /** Null without a filter[sessionId] that has a valid value. */
  sessionIds: readonly number[] | null;
  /** Tests fields that need no rendered item; null if no such filter was sent. */
  fields: ((fields: FilterFields) => boolean) | null;
  /** Tests the rendered item. Used only for pigeonholes and sessions, which are few. */
  item: ((item: JsonObject) => boolean) | null;
}

/** @param supported names of the filters that the list currently supports */
export function readFilters(query: URLSearchParams, list: ListName, supported: readonly string[]): Filters {
  const values = (name: string): string[] => {
    if (!supported.includes(name)) return [];
    return query.getAll(`filter[${name}]`).flatMap((value) => value.split(',').map((part) => part.trim()));
  };
  const fieldTests: ((fields: FilterFields) => boolean)[] = [];
  const itemTests: ((item: JsonObject) => boolean)[] = [];
  const wanted = <T>(found: readonly T[], test: (set: ReadonlySet<T>) => void): void => {
    if (found.length > 0) test(new Set(found));
  };

  wanted(integers(values('attendeeId')), (set) =>
    fieldTests.push(({ attendeeId }) => attendeeId !== undefined && set.has(attendeeId)),
  );
  wanted(integers(values('questionId')), (set) =>
    fieldTests.push(({ questionId }) => questionId !== undefined && set.has(questionId)),
  );
  const bounds = values('ratingBetween');
  const [lower, upper] = integers(bounds);
  if (bounds.length === 2 && lower !== undefined && upper !== undefined) {
    fieldTests.push(({ rate }) => rate !== undefined && rate >= lower && rate <= upper);
  }
  const statuses = values('status');
  if (list === 'pigeonholes') {
    wanted(
      statuses.filter((status) => PIGEONHOLE_STATUSES.includes(status)),
      (set) => itemTests.push(({ status }) => typeof status === 'string' && set.has(status)),
    );
  } else {
    wanted(
      statuses.filter((status) => (CLOUD_STATUSES as readonly string[]).includes(status)),
      (set) => fieldTests.push(({ status }) => status !== undefined && set.has(status)),
    );
  }
  wanted(values('timezone').filter(isTimezone), (set) =>
    itemTests.push(({ timezone }) => typeof timezone === 'string' && set.has(timezone)),
  );
  const startsBeforeMs = Date.parse(values('startsBefore')[0] ?? '');
  if (!Number.isNaN(startsBeforeMs)) {
    itemTests.push(({ startDate }) => typeof startDate === 'string' && Date.parse(startDate) < startsBeforeMs);
  }

  const sessionIds = integers(values('sessionId'));
  return {
    sessionIds: sessionIds.length === 0 ? null : sessionIds,
    fields: all(fieldTests),
    item: all(itemTests),
  };
}

function integers(values: readonly string[]): number[] {
  return values.filter((value) => /^-?\d{1,15}$/.test(value)).map(Number);
}

function all<T>(tests: readonly ((value: T) => boolean)[]): ((value: T) => boolean) | null {
  return tests.length === 0 ? null : (value) => tests.every((test) => test(value));
}
