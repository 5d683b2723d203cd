import type { Ledger } from '../../../ledger/ledger.js';
import type { OpenReceiver } from './receiver.js';

/** The name by which the ledger knows a receiver: another token makes no other receiver of it. */
export function receiverKey(ledger: Ledger, { type, place }: OpenReceiver): string {
  return ledger.hash.fingerprint(JSON.stringify(['alerts', type, ...place]));
}
