import type { ListRef } from '../../pigeonhole/lists.js';
import { ApiError } from '../../pigeonhole/api-error.js';
import { walkPages } from '../../pigeonhole/client.js';
import { requestPage } from '../../work/requests/request-page.js';
import { requestPigeonhole } from '../../work/requests/request-pigeonhole.js';
import type { Collaborators } from '../../work/collaborators.js';

/** A pigeonhole or a session as the service shows it. */
export interface Shown {
  readonly id: number;
  readonly [field: string]: unknown;
}

/** The fields that identify an object whose id is unknown. */
export type Looks = Readonly<Record<string, unknown>>;

const identifyingFields = {
  pigeonhole: ['name', 'startDate', 'endDate'],
  session: ['name', 'type', 'startDate'],
} as const;

/** Returns the fields of a request by which its object can be looked up. Pure. */
export function looksOf(kind: 'pigeonhole' | 'session', fields: Readonly<Record<string, unknown>>): Looks {
  return Object.fromEntries(identifyingFields[kind].map((field) => [field, fields[field] ?? null]));
}

/** Whether the service's object equals the sent one in its identifying fields. Pure. */
export function looksLike(looks: Looks, shown: Shown): boolean {
  return Object.entries(looks).every(([field, value]) => isSame(value, shown[field]));
}

/** Whether both have the same name. Pure. */
export function isNamesake(looks: Looks, shown: Shown): boolean {
  return foldText(looks['name']) === foldText(shown['name']);
}

/**
 * Whether two values of a field are equal, except for differences the service may introduce: white space, another
 * offset of the same instant, null for an empty text. Pure.
 */
export function isSame(sent: unknown, shown: unknown): boolean {
  const [one, other] = [plainValue(sent), plainValue(shown)];
  return one === other || (instantOf(one) !== undefined && instantOf(one) === instantOf(other));
}

function plainValue(value: unknown): unknown {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value.normalize('NFC').replaceAll(/\s+/g, ' ').trim();
  return typeof value === 'object' ? JSON.stringify(value) : value;
}

function instantOf(value: unknown): number | undefined {
  if (typeof value !== 'string' || !/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/.test(value)) return undefined;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : at;
}

function foldText(value: unknown): string {
  return String(plainValue(value)).toLowerCase();
}

/** A field whose value in the service differs from the file. */
interface Difference {
  readonly field: string;
  readonly inFile: unknown;
  readonly atService: unknown;
}

/**
 * Returns the fields that differ between the file and the service. A field that the service does not return is skipped.
 * Pure.
 */
export function findDifferences(fields: Readonly<Record<string, unknown>>, shown: Shown): Difference[] {
  return Object.entries(fields)
    .filter(([field, value]) => shown[field] !== undefined && !isSame(value, shown[field]))
    .map(([field, value]) => ({ field, inFile: value, atService: shown[field] }));
}

/** Priority of these requests: an operator waits for the result, as for an import. */
export const priority = 'import';

type Dependencies = Pick<Collaborators, 'clients' | 'config' | 'gate' | 'stopping'>;

/**
 * Returns all items of a list that have an ID.
 * @param twice walks the list twice and returns the items of both walks. Use it before an item counts as missing: one walk
 *   can miss an item that moves between pages, and the service may once answer with an empty page by mistake
 * @throws {PermitRefusal} or {ApiError} as `requestPage`
 */
export async function listAll(
  deps: Dependencies,
  workspace: string,
  list: ListRef,
  { twice }: { readonly twice: boolean },
): Promise<Shown[]> {
  const shown = new Map<number, Shown>();
  const walk = async (): Promise<void> => {
    const permit = { workspace, priority } as const;
    for await (const page of walkPages((ref, options) => requestPage(deps, permit, ref, options ?? {}), list, {
      signal: deps.stopping,
    })) {
      for (const item of page.items) if (isShown(item)) shown.set(item.id, item);
    }
  };
  await walk();
  if (twice) await walk();
  return [...shown.values()];
}

/**
 * Returns a pigeonhole; undefined if the service itself reports that it does not exist.
 * @throws {PermitRefusal} or {ApiError} as `requestPigeonhole`
 */
export async function findOne(deps: Dependencies, workspace: string, pigeonholeId: number): Promise<Shown | undefined> {
  try {
    const found = await requestPigeonhole(deps, { workspace, priority }, pigeonholeId, deps.stopping);
    return { ...found };
  } catch (error) {
    const isMissing = error instanceof ApiError && ['pigeonholeNotFound', 'notFound'].includes(error.kind);
    if (isMissing) return undefined;
    throw error;
  }
}

function isShown(item: object): item is Shown {
  return 'id' in item && typeof item.id === 'number';
}
