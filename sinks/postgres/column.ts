/** The types that columns have: those that a value of JSON can be brought into without losing anything. */
export type ColumnType = 'bigint' | 'boolean' | 'text' | 'timestamp with time zone' | 'date' | 'jsonb';

export interface Column {
  readonly name: string;
  readonly type: ColumnType;
  /** Where its value stands: in the item, in the change's envelope, or in all of the item that no other column takes. */
  readonly from: { readonly item: readonly string[] } | { readonly envelope: 'sessionId' } | 'the-rest';
  /** Whether it may say something of a person: emptied when the item or the person goes. */
  readonly personal: boolean;
  /** A sentence for the catalogue of the database. */
  readonly comment: string;
}

/**
 * A value as its column takes it; null where there is none, or one of another type than the specification gives it.
 * Such a value is not lost: `raw` has it. A row refused for one odd field would lose all the others.
 */
export function columnValue(type: ColumnType, value: unknown): unknown {
  switch (type) {
    case 'bigint':
      return Number.isSafeInteger(value) ? value : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'text':
      return typeof value === 'string' ? value : null;
    case 'timestamp with time zone':
      return instantOf(value);
    case 'date':
      return dayOf(value);
    case 'jsonb':
      return value ?? null;
  }
}

/** ISO 8601 with its offset, as the specification has it; one without would mean another instant on each server. */
function instantOf(value: unknown): string | null {
  if (typeof value !== 'string' || !/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}.*(Z|[+-]\d{2}:?\d{2})$/.test(value)) return null;
  const at = new Date(value);
  // year 0 is one that PostgreSQL does not know, and 9999 with an offset may lead beyond four digits
  return Number.isNaN(at.getTime()) || at.getUTCFullYear() < 1 || at.getUTCFullYear() > 9999 ? null : at.toISOString();
}

function dayOf(value: unknown): string | null {
  if (typeof value !== 'string' || !/^\d{4}-\d{2}-\d{2}$/.test(value) || value.startsWith('0000')) return null;
  const at = new Date(`${value}T00:00:00Z`);
  // JavaScript takes 2026-02-30 for 2 March
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(value) ? value : null;
}
