import type { AlertText } from '../alert-text.js';
import type { NewAlertMessage, Occasion } from '../looks.js';

/** An alert as it leaves. */
export interface OutgoingAlert extends AlertText {
  /** The same at every attempt: a receiver that looks at it takes an alert once. */
  readonly id: string;
  /** When it was found. */
  readonly at: Date;
  readonly occasion: Occasion | 'test';
  readonly kind: NewAlertMessage['kind'];
  /** Several of a message that counts them; none of a test. */
  readonly subjects: readonly string[];
}

export type AlertOutcome =
  | { readonly kind: 'delivered' }
  /** `detail`: a sentence without secrets and without what the receiver wrote. */
  | { readonly kind: 'failed'; readonly detail: string; readonly afterMs?: number };

/** Somebody who is told. */
export interface OpenReceiver {
  readonly type: 'slack' | 'webhook' | 'smtp';
  /** As people are told which: `slack C0OPS000001`, `webhook alerts.example.com`. */
  readonly name: string;
  /** Where it is, without its credentials: what it is known by when these change. */
  readonly place: readonly string[];
  /** Never throws. Ends soon after the signal is aborted. */
  send(alert: OutgoingAlert, signal: AbortSignal): Promise<AlertOutcome>;
  close(): Promise<void>;
}
