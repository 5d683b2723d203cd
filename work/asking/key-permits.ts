import { performance } from 'node:perf_hooks';
import type { Priority, QuotaState, SpentPermit } from './quota.js';
import type { ApiError } from '../../pigeonhole/api-error.js';
import { aloneBelow, type Needs } from './quota-rules.js';

/** What this process knows of an API key. */
export interface Key {
  readonly fingerprint: string;
  state: QuotaState | undefined;
  /** When `state` was read, by a clock that never jumps. */
  stateAt: number;
  /** Requests that the service has refused because the quota is used up. */
  refused: number;
  /** So many of them the ledger does not know yet. */
  unnoted: number;
  /** Successes in a row that said nothing of the quota. */
  silent: number;
  /** What reading needs in a span, as of an instant. */
  needs: { readonly at: number; readonly spanMs: number; readonly value: Promise<Needs> } | undefined;
  /** Ends with the request of this process that no other may stand beside. */
  alone: Promise<void> | undefined;
  /** Live requests made of what is kept for imports, in a row, since nobody says when the next window begins. */
  probes: number;
  /** The next of them may be made at that instant, by a clock that never jumps; null: none is due. */
  probeAt: number | null;
}

export interface Held extends SpentPermit {
  /** In a row, before it was asked. */
  readonly refusals: number;
  readonly release: () => void;
}

export function unknownKey(fingerprint: string): Key {
  return {
    fingerprint,
    state: undefined,
    stateAt: 0,
    refused: 0,
    unnoted: 0,
    silent: 0,
    needs: undefined,
    alone: undefined,
    probes: 0,
    probeAt: null,
  };
}

export function learn(key: Key, state: QuotaState): QuotaState {
  key.state = state;
  key.stateAt = performance.now();
  return state;
}

export function hold(key: Key, priority: Priority, state: QuotaState): Held {
  const probe = state.refusals > 0;
  const alone = probe || (state.remaining !== null && state.remaining + 1 <= aloneBelow(state.limit));
  let release = (): void => undefined;
  if (alone) {
    const done = new Promise<void>((resolve) => {
      release = () => {
        if (key.alone === done) key.alone = undefined;
        resolve();
      };
    });
    key.alone = done;
  }
  return { priority, window: state.window, refusals: state.refusals, probe, alone, release: () => release() };
}

/** Whether the service has counted a request that brought nothing: what never reached it was not. */
export function wasCounted({ kind, status, mayHaveTakenEffect }: ApiError): boolean | 'unsure' {
  if (kind === 'throttled' || kind === 'credential') return false;
  if (status !== null) return true;
  return mayHaveTakenEffect ? 'unsure' : false;
}
