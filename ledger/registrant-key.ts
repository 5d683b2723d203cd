import { canonicalJson } from './canonical-json.js';
import type { KeyedHash } from './keyed-hash.js';
import { registrantsList } from '../base/lists.js';

/** Returns the key of a registrant's item. It does not reveal the code, and it differs between pigeonholes. */
export function registrantKey(hash: KeyedHash, pigeonholeNumber: number, codeHash: Buffer): string {
  return hash.rowKey(canonicalJson([registrantsList, pigeonholeNumber, codeHash.toString('hex')]));
}
