import type { AlertText } from '../alert-text.js';
import type { NewAlertMessage, Occasion } from '../alert-store.js';
import type { Ledger } from '../../../ledger/ledger.js';

/** An alert as it leaves. */
export interface OutgoingAlert extends AlertText {
  /** The same at every attempt, so that a receiver can ignore duplicates. */
  readonly id: string;
  /** Instant at which the condition was found. */
  readonly at: Date;
  readonly occasion: Occasion | 'test';
  readonly kind: NewAlertMessage['kind'];
  /** Several of a message that counts them; none of a test. */
  readonly subjects: readonly string[];
}

export type AlertOutcome =
  | { readonly kind: 'delivered' }
  /** `detail` is a sentence without secrets and without text from the receiver. */
  | { readonly kind: 'failed'; readonly detail: string; readonly afterMs?: number };

/** A receiver of alerts. */
export interface OpenReceiver {
  readonly type: 'slack' | 'webhook' | 'smtp';
  /** Name in logs and answers: `slack C0OPS000001`, `webhook alerts.example.com`. */
  readonly name: string;
  /** Address without credentials. It identifies the receiver when its credentials change. */
  readonly place: readonly string[];
  /** Never throws. Ends soon after the signal is aborted. */
  send(alert: OutgoingAlert, signal: AbortSignal): Promise<AlertOutcome>;
  close(): Promise<void>;
}

/** The name by which the ledger knows a receiver: another token makes no other receiver of it. */
export function receiverKey(ledger: Ledger, { type, place }: OpenReceiver): string {
  return ledger.hash.fingerprint(JSON.stringify(['alerts', type, ...place]));
}

/** Timeouts of a receiver; shorter than the lease by which one process sends to it. */
export const receiverTimes = { connectTimeoutMs: 10_000, requestTimeoutMs: 20_000 } as const;
