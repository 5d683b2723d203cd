import { createHmac } from 'node:crypto';

/** No vowels (no words), no 0, 1, I, L, O (misread), no E (spreadsheets take 12E4 for a number). */
const alphabet = '23456789BCDFGHJKMNPQRSTVWXYZ';
const length = 12;

/**
 * A code for a registrant that has none: nobody guesses it without the key (57 bits), and the same registrant gets the same code each
 * time, so that importing a file again meets who is there already.
 * @param key kept by the caller, the same for all imports of a pigeonhole
 * @param fields what the row sends; their order does not matter, empty ones do not count
 */
export function generateCode(key: Uint8Array, fields: Readonly<Record<string, string>>): string {
  const content = Object.entries(fields)
    .filter(([, value]) => value !== '')
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const digest = createHmac('sha256', key).update('registrant code\n').update(JSON.stringify(content)).digest();
  let number = digest.readBigUInt64BE(0) * 2n ** 32n + BigInt(digest.readUInt32BE(8)); // 96 bits for 57: no letter is favoured
  let code = '';
  while (code.length < length) {
    code += alphabet[Number(number % BigInt(alphabet.length))];
    number /= BigInt(alphabet.length);
  }
  return code;
}
