import {
  type FilterName,
  type ServiceListName,
  type ServiceTable,
  serviceTraits,
  type WorkspaceListName,
} from '../base/lists.js';

/** The values of the service's filters. Source: docs/service-contract.md, "Lists and filters". */
interface FilterValues {
  /** Observed values of pigeonholes: new, upcoming, live, ended. Any value is sent unchanged. */
  readonly status: readonly string[];
  /** IANA time-zone name. */
  readonly timezone: string;
  readonly startsBefore: string;
  readonly sessionId: number;
  readonly questionId: number;
  /** Documented for quiz votes. Multiple-choice votes are assumed to have the same filters. */
  readonly attendeeId: number;
  /** Lower and upper rate, both integers. */
  readonly ratingBetween: readonly [number, number];
}

/** The pigeonhole of a list, and the session of a list that is read per session. */
type PlaceOf<List extends ServiceListName> = List extends WorkspaceListName
  ? unknown
  : { readonly pigeonholeId: number } & (ServiceTable[List]['perSession'] extends string
      ? { readonly sessionId: number }
      : unknown);

type RefOf<List extends ServiceListName> = { readonly list: List } & PlaceOf<List> & {
    readonly filters?: Readonly<
      Partial<Pick<FilterValues, Exclude<ServiceTable[List]['filters'][number], keyof PlaceOf<List>>>>
    >;
  };

/**
 * One list and the parameters of its requests. Required parameters are at the top level (`sessionId` of the per-session lists),
 * optional ones in `filters`. The service ignores filters that it does not support, so a caller that relies on a filter
 * has to check the items.
 */
export type ListRef = { [List in ServiceListName]: RefOf<List> }[ServiceListName];

/** Default page size: the maximum of the service, so that a walk takes the fewest requests. */
export const defaultCount = 300;

/**
 * Returns the path of a list, starting with `/v2`, without a query.
 * @throws {RangeError} if an id is not a safe integer: such a path could name another resource
 */
export function listPath(ref: ListRef): string {
  return 'pigeonholeId' in ref ? `${pigeonholePath(ref.pigeonholeId)}/${ref.list}` : `/v2/${ref.list}`;
}

/** Returns the path of one pigeonhole. Throws like `listPath`. */
export function pigeonholePath(pigeonholeId: number): string {
  return `/v2/pigeonholes/${checkedId('pigeonholeId', pigeonholeId)}`;
}

/**
 * Returns the query of one page of a list, built only from the filters and the cursor, never from `links.next`. Names
 * and commas are written as in the specification (`filter[status]=upcoming,live`); values are URL-encoded. A filter
 * without values is left out.
 * Source: docs/service-contract.md, "Pagination" and "Lists and filters".
 * @param cursor as received from the service; null for the first page
 * @throws {RangeError} if `count` is not an integer from 1 to 300, or an id is not a safe integer
 */
export function listQuery(list: ListRef, cursor: string | null, count: number): string {
  if (!Number.isInteger(count) || count < 1 || count > 300) {
    throw new RangeError(`Invalid count ${count} for a page of ${list.list}; use an integer from 1 to 300.`);
  }
  const parts = [`count=${count}`];
  for (const [name, value] of filtersOf(list)) {
    if (value.length > 0) parts.push(`filter[${name}]=${value}`);
  }
  if (cursor !== null) parts.push(`cursor=${encodeURIComponent(cursor)}`);
  return parts.join('&');
}

/** Returns filter names and encoded values, in a fixed order, so that equal requests have equal queries. */
function filtersOf(ref: ListRef): [name: string, value: string][] {
  const required = 'sessionId' in ref ? { sessionId: ref.sessionId } : {};
  const values: Partial<FilterValues> = { ...ref.filters, ...required };
  return serviceTraits[ref.list].filters.map((name) => [name, encoded(name, values)]);
}

function encoded(name: FilterName, values: Partial<FilterValues>): string {
  switch (name) {
    case 'status':
    case 'timezone':
    case 'startsBefore':
      return words(values[name]);
    case 'sessionId':
    case 'questionId':
    case 'attendeeId':
      return id(name, values[name]);
    case 'ratingBetween':
      return (values[name] ?? []).map((rate) => id(name, rate)).join(',');
  }
}

/** Encodes each value separately, so that a comma inside a value differs from the comma between two values. */
function words(value: string | readonly string[] | undefined): string {
  const values = typeof value === 'string' ? [value] : (value ?? []);
  return values.map((word) => encodeURIComponent(word)).join(',');
}

function id(name: string, value: number | undefined): string {
  return value === undefined ? '' : String(checkedId(name, value));
}

function checkedId(name: string, value: number): number {
  if (!Number.isSafeInteger(value)) {
    throw new RangeError(`Invalid ${name} ${value} in a request; use a safe integer.`);
  }
  return value;
}
