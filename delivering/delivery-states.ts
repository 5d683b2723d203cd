import type { Candidate } from './candidates.js';
import type { DecidedRow } from '../ledger/deliveries.js';

export type Decision =
  | { readonly kind: 'send'; readonly identity: boolean }
  | { readonly kind: 'withhold'; readonly reason: string }
  | { readonly kind: 'supersede' }
  /** Becomes a dead letter: an operator has to check it before it is sent. */
  | { readonly kind: 'park'; readonly cause: string; readonly detail: string };

/** A candidate and what the lane decided on it. */
export interface Decided {
  readonly candidate: Candidate;
  readonly decision: Decision;
}

/** Returns the delivery that a decision leads to. Pure. */
export function toDecidedRow({ candidate, decision }: Decided): DecidedRow {
  return { ...toRow(candidate), ...columnsOf(decision) };
}

/** Returns the delivery of a change that has to wait for an earlier one of its item. Pure. */
export function toWaitingRow(candidate: Parameters<typeof toRow>[0]): DecidedRow {
  return { ...toRow(candidate), state: 'waiting', reason: null, detail: null, identity: null };
}

function toRow({
  sequence,
  replay,
  list,
  key,
  revision,
}: Pick<Candidate, 'sequence' | 'replay' | 'list' | 'key' | 'revision'>): Pick<
  DecidedRow,
  'sequence' | 'replay' | 'list' | 'key' | 'revision'
> {
  return { sequence, replay, list, key, revision };
}

function columnsOf(decision: Decision): Pick<DecidedRow, 'state' | 'reason' | 'detail' | 'identity'> {
  switch (decision.kind) {
    case 'send':
      return { state: 'sending', reason: null, detail: null, identity: decision.identity };
    case 'withhold':
      return { state: 'withheld', reason: decision.reason, detail: null, identity: null };
    case 'supersede':
      return { state: 'superseded', reason: null, detail: null, identity: null };
    case 'park':
      return { state: 'dead', reason: decision.cause, detail: decision.detail, identity: null };
  }
}
