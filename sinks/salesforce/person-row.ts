import type { PersonType } from './config.js';
import type { PresentRecord } from './decide-fields.js';
import type { Row } from './query.js';

/** A Lead or Contact as a query gave it. */
export interface PersonRow extends PresentRecord {
  readonly type: PersonType;
  readonly id: string;
  /** The lead has become this contact; null: it is a lead still, or the contact is told nowhere. */
  readonly contactId: string | null;
  readonly isConverted: boolean;
}

/** Fields that each query asks for. */
export function fieldsAskedOf(type: PersonType): string[] {
  return type === 'Lead' ? ['Id', 'LastModifiedDate', 'IsConverted', 'ConvertedContactId'] : ['Id', 'LastModifiedDate'];
}

export function personRow(type: PersonType, row: Row): PersonRow {
  const { Id, LastModifiedDate, IsConverted, ConvertedContactId } = row;
  const modified = typeof LastModifiedDate === 'string' ? Date.parse(LastModifiedDate) : Number.NaN;
  return {
    type,
    id: String(Id),
    // Unknown counts as just now: nothing is overwritten for being older.
    lastModifiedAtMs: Number.isNaN(modified) ? Number.POSITIVE_INFINITY : modified,
    values: new Map(Object.entries(row).map(([field, value]) => [field.toLowerCase(), value])),
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
 */
export function choosePerson(rows: readonly PersonRow[]): Choice {
  const standing = rows.filter(({ isConverted }) => !isConverted);
  const ids = [...new Set(standing.map(({ id }) => id))];
  if (ids.length > 1) return { kind: 'ambiguous', ids };
  if (standing[0] !== undefined) return { kind: 'record', row: standing[0] };
  const contacts = [...new Set(rows.flatMap(({ contactId }) => (contactId === null ? [] : [contactId])))];
  if (contacts.length > 1) return { kind: 'ambiguous', ids: contacts };
  return contacts[0] === undefined ? { kind: 'none' } : { kind: 'contact', id: contacts[0] };
}

/** A field's value as text; empty: there is none. */
export function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
