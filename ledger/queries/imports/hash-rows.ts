import { canonicalJson } from '../../canonical-json.js';
import type { KeyedHash } from '../../keyed-hash.js';
import type { HashedRow } from './claim-rows.js';
import type { SendableRow } from './staged-row.js';

/** Rows as the ledger stores and compares them. */
export function hashRows(hash: KeyedHash, rows: readonly SendableRow[]): HashedRow[] {
  return rows.map(({ row, profile }) => {
    const canonical = canonicalJson(profile);
    return {
      row,
      codeHash: hash.attendeeCode(profile.attendeeCode),
      dataHash: hash.registrant(canonical),
      profile: canonical,
    };
  });
}
