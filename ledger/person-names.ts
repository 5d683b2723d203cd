import type { Fields } from './item-form.js';
import type { KeyedHash } from './keyed-hash.js';

/**
 * Returns the hashes by which a request that names a person by code or e-mail address finds a record (decision 0099), as
 * the text of an SQL array of `bytea`: of the attendee code, and of every text that may be an address. Null: none. Pure
 * except for the keyed hash.
 */
export function namesOf(hash: KeyedHash, fields: Fields): string | null {
  const names = Object.entries(fields).flatMap(([field, value]) => {
    if (typeof value !== 'string' || value === '') return [];
    const code = field === 'attendeeCode' ? [hash.attendeeCode(value)] : [];
    return value.includes('@') ? [...code, hash.address(value)] : code;
  });
  return names.length === 0 ? null : `{${names.map((name) => `"\\\\x${name.toString('hex')}"`).join(',')}}`;
}
