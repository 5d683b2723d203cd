import type { OnSeveral, PersonType } from './config.js';
import type { PresentRecord } from './decide-fields.js';
import type { Row } from './query.js';

/** A Lead or Contact as a query gave it. */
export interface PersonRow extends PresentRecord {
  readonly type: PersonType;
  readonly id: string;
  /** The lead has become this contact; null: it is a lead still, or the contact is told nowhere. */
  readonly contactId: string | null;
  readonly isConverted: boolean;
  readonly createdAtMs: number;
}

/** Fields that each query asks for. */
export function fieldsAskedOf(type: PersonType): string[] {
  const ofAll = ['Id', 'CreatedDate', 'LastModifiedDate'];
  return type === 'Lead' ? [...ofAll, 'IsConverted', 'ConvertedContactId'] : ofAll;
}

export function personRow(type: PersonType, row: Row): PersonRow {
  const { Id, CreatedDate, LastModifiedDate, IsConverted, ConvertedContactId } = row;
  const modified = typeof LastModifiedDate === 'string' ? Date.parse(LastModifiedDate) : Number.NaN;
  return {
    type,
    id: String(Id),
    // Unknown counts as just now: nothing is overwritten for being older.
    lastModifiedAtMs: Number.isNaN(modified) ? Number.POSITIVE_INFINITY : modified,
    values: new Map(Object.entries(row).map(([field, value]) => [field.toLowerCase(), value])),
    createdAtMs: typeof CreatedDate === 'string' ? Date.parse(CreatedDate) : Number.NaN,
    isConverted: type === 'Lead' && IsConverted === true,
    contactId: typeof ConvertedContactId === 'string' ? ConvertedContactId : null,
  };
}

export type Choice =
  | { readonly kind: 'none' }
  | { readonly kind: 'record'; readonly row: PersonRow }
  /** The contact that a lead has become. */
  | { readonly kind: 'contact'; readonly id: string }
  | { readonly kind: 'ambiguous'; readonly ids: readonly string[] };

/**
 * Whom the rows mean that one value found. Pure. Leads that were converted are nobody of their own: they stand for
 * their contact, and only where no record as such was found.
 * @param onSeveral which of several is meant; of converted leads, the contact of that lead
 */
export function choosePerson(rows: readonly PersonRow[], onSeveral: OnSeveral): Choice {
  const inOrder = rows.toSorted(byCreation);
  const standing = inOrder.filter(({ isConverted }) => !isConverted);
  const ids = [...new Set(standing.map(({ id }) => id))];
  if (ids.length > 1 && onSeveral === 'park') return { kind: 'ambiguous', ids };
  const row = standing.at(onSeveral === 'newest' ? -1 : 0);
  if (row !== undefined) return { kind: 'record', row };
  const contacts = [...new Set(inOrder.flatMap(({ contactId }) => (contactId === null ? [] : [contactId])))];
  if (contacts.length > 1 && onSeveral === 'park') return { kind: 'ambiguous', ids: contacts };
  const id = contacts.at(onSeveral === 'newest' ? -1 : 0);
  return id === undefined ? { kind: 'none' } : { kind: 'contact', id };
}

/** Ids rise with the creation of records, though not strictly: they settle what was created in the same second. */
function byCreation(one: PersonRow, other: PersonRow): number {
  return one.createdAtMs - other.createdAtMs || (one.id < other.id ? -1 : Number(one.id > other.id));
}

/** A field's value as text; empty: there is none. */
export function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
