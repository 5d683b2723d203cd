import { createHmac } from 'node:crypto';

/** No vowels (no words), no 0, 1, I, L, O (misread), no E (spreadsheets read 12E4 as a number). */
const alphabet = '23456789BCDFGHJKMNPQRSTVWXYZ';
const length = 12;

/**
 * Generates a code for a registrant. Without the key, it cannot be guessed (57 bits). The same registrant always gets
 * the same code, so that importing a file again finds the existing registrants.
 * @param key stored by the caller, the same for all imports of a pigeonhole
 * @param fields the row's values; their order does not matter, empty ones do not count
 */
export function generateCode(key: Uint8Array, fields: Readonly<Record<string, string>>): string {
  const content = Object.entries(fields)
    .filter(([, value]) => value !== '')
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const digest = createHmac('sha256', key).update('registrant code\n').update(JSON.stringify(content)).digest();
  let number = digest.readBigUInt64BE(0) * 2n ** 32n + BigInt(digest.readUInt32BE(8)); // 96 bits for a code of 57 bits, so that all letters are practically equally likely
  let code = '';
  while (code.length < length) {
    code += alphabet[Number(number % BigInt(alphabet.length))];
    number /= BigInt(alphabet.length);
  }
  return code;
}
