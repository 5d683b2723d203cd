import { canonicalJson } from '../../ledger/canonical-json.js';
import type { KeyedHash } from '../../ledger/keyed-hash.js';
import type { HashedRow } from './claim-rows.js';
import type { SendableRow } from './staged-row.js';

/** Rows as the ledger stores and compares them, in their order. */
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

/** Bytes of a code's hash that order rows: as many as a number holds. */
const orderBytes = 6;

/**
 * The same rows in the one order in which everybody claims codes: two that claim the same ones at once would else wait
 * for each other. By the beginning of the hash alone, in a fifth of the time that comparing it whole takes; the few that
 * share it are left to the store, which rolls one of two back that wait for each other.
 */
export function inClaimingOrder(rows: readonly HashedRow[]): HashedRow[] {
  return rows
    .map((row) => ({ row, place: row.codeHash.readUIntBE(0, orderBytes) }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ row }) => row);
}
