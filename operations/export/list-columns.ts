import { type ListName, listTraits, type ServiceListName, serviceLists } from '../../base/lists.js';
import { instantMs } from '../../base/instant.js';
import type { Cell, SheetColumn } from '../../base/sheets/sheet.js';
import type { Fields } from '../../ledger/item-form.js';
import { personRuleOf } from '../../ledger/visibility.js';
import { documentedFields, type FieldKind } from '../../pigeonhole/documented-fields.js';
import type { ExportedItem } from './exported-items.js';

type FieldKinds = Readonly<Record<string, FieldKind>>;

/** The fields of the lists that pigeonpost derives (docs/registrants.md, docs/engagement.md). */
const derivedFields: Readonly<Record<Exclude<ListName, ServiceListName>, FieldKinds>> = {
  registrants: {
    attendeeCode: 'text',
    registrantId: 'number',
    attendeeId: 'number',
    attendees: 'number',
    signedIn: 'flag',
    signedInAt: 'moment',
    consent: 'text',
  },
  engagement: {
    scope: 'text',
    attendeeId: 'number',
    sessionId: 'number',
    'session.name': 'text',
    interactions: 'number',
    asked: 'number',
    answered: 'number',
    responded: 'number',
    voted: 'number',
    rated: 'number',
    offered: 'number',
    evidence: 'text',
    rule: 'number',
  },
};

/** Returns the documented fields of a list, in the order in which people see them. */
export function fieldsOfList(list: ListName): FieldKinds {
  return isServiceList(list) ? documentedFields[list] : derivedFields[list];
}

function isServiceList(list: ListName): list is ServiceListName {
  return (serviceLists as readonly string[]).includes(list);
}

/** A column about an item: what the ledger knows of it beside its data. */
interface ItemColumn extends SheetColumn {
  readonly of: (item: ExportedItem) => Cell;
}

/** Returns the columns about the items of a list. They follow those of the data. */
export function itemColumns(list: ListName): readonly ItemColumn[] {
  const rule = personRuleOf(list);
  const isInteraction = rule === 'flagged' || rule === 'judged';
  const columns: readonly (ItemColumn & { readonly isMissing?: boolean })[] = [
    { name: 'item.key', kind: 'text', of: ({ key }) => key },
    { name: 'item.sessionId', kind: 'number', of: ({ sessionId }) => sessionId, isMissing: !isInteraction },
    { name: 'item.revision', kind: 'number', of: ({ revision }) => revision },
    { name: 'item.state', kind: 'text', of: ({ state }) => state },
    { name: 'item.author', kind: 'text', of: ({ author }) => author, isMissing: !isInteraction },
    { name: 'item.consent', kind: 'text', of: ({ consent }) => consent, isMissing: rule === 'none' },
    { name: 'item.changedAt', kind: 'moment', of: ({ lastChangedAt }) => ({ atMs: lastChangedAt.getTime() }) },
  ];
  return columns.filter(({ isMissing = false }) => !isMissing);
}

/** Maximum number of columns of fields that are not documented. The fields beyond share one column as JSON. */
const maxOtherFields = 500;
export const restColumn = 'other fields';

/**
 * Collects the fields that the shown items of a list have beside the documented ones, such as the profile fields of
 * attendees, in the order in which they appear. A hidden field never gives a column.
 */
export class FieldNames {
  readonly #documented: FieldKinds;
  readonly #own = new Set<string>();
  readonly #attendee = new Set<string>();
  hasRest = false;

  constructor(private readonly list: ListName) {
    this.#documented = fieldsOfList(list);
  }

  note(items: readonly ExportedItem[]): void {
    for (const item of items) {
      for (const name of leaves(item.data).keys())
        if (!Object.hasOwn(this.#documented, name)) this.#add(this.#own, name);
      for (const name of profileOf(item).keys()) this.#add(this.#attendee, name);
    }
  }

  #add(names: Set<string>, name: string): void {
    if (names.has(name)) return;
    if (this.#own.size + this.#attendee.size >= maxOtherFields) this.hasRest = true;
    else names.add(name);
  }

  /** Returns the paths of the data's columns, each with its kind: those of people's profiles follow the code. */
  paths(): readonly (readonly [path: string, kind: FieldKind])[] {
    const documented = Object.entries(this.#documented);
    const isPeople = listTraits[this.list].holds === 'people';
    const codeAt = documented.findIndex(([path]) => path === 'attendeeCode') + 1;
    const splitAt = isPeople ? codeAt : documented.length;
    const others = [...this.#attendee, ...this.#own].filter((path) => !Object.hasOwn(this.#documented, path));
    return [
      ...documented.slice(0, splitAt),
      ...[...new Set(others)].map((path) => [path, 'text'] as const),
      ...documented.slice(splitAt),
    ];
  }
}

/** Returns the values of an item's columns by path. @param sessions names of sessions by id */
export function valuesOf(item: ExportedItem, sessions: ReadonlyMap<string, string>): Map<string, unknown> {
  const values = new Map([...profileOf(item), ...leaves(item.data)]);
  const sessionId = values.get('sessionId');
  if (typeof sessionId === 'number' && !values.has('session.name')) {
    values.set('session.name', sessions.get(String(sessionId)) ?? null);
  }
  return values;
}

/** Members of an attendee's record with a place of their own in the list `attendees`, and those that are objects. */
const notProfile = new Set(
  Object.keys(documentedFields.attendees)
    .map((path) => path.split('.')[0]!)
    .filter((name) => name !== 'attendeeCode'),
);

/** Returns the code and the profile of the attendee behind an interaction, as `attendee.Name`. */
function profileOf({ attendee }: ExportedItem): Map<string, unknown> {
  const profile = Object.entries(attendee ?? {}).filter(
    ([name, value]) => !notProfile.has(name) && (value === null || typeof value !== 'object'),
  );
  return new Map(profile.map(([name, value]) => [`attendee.${name}`, value]));
}

/**
 * Returns the values of an item by path. Members of a member are part of the path, deeper ones of the value. Leaves out
 * null, which may stand for a member with documented members.
 */
function leaves(data: Fields | null): Map<string, unknown> {
  const found = new Map<string, unknown>();
  for (const [name, value] of Object.entries(data ?? {})) {
    if (value === null) continue;
    if (typeof value === 'object' && !Array.isArray(value)) {
      for (const [member, own] of Object.entries(value)) found.set(`${name}.${member}`, own);
    } else found.set(name, value);
  }
  return found;
}

/** Returns a value of JSON as a cell. A text is a date only where the field is documented as one. */
export function cellOf(value: unknown, kind: FieldKind): Cell {
  if (value === undefined || value === null) return null;
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  if (typeof value !== 'string') return JSON.stringify(value);
  if (kind === 'day') return { day: value };
  const atMs = kind === 'moment' ? instantMs(value) : undefined;
  return atMs === undefined ? value : { atMs };
}
