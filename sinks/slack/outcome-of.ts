import type { Outcome } from '../sink.js';
import type { Verdict } from './classify-reply.js';

/**
 * What a call that did not go well means for its change, where a repeat of the call does no harm. A channel that takes
 * nothing stops a sink that has no other; beside others it parks what goes there, and the rest goes on.
 */
export function outcomeOf(verdict: Exclude<Verdict, { kind: 'ok' }>, hasOneChannel: boolean): Outcome {
  const { detail } = verdict;
  switch (verdict.kind) {
    case 'limited':
      return { kind: 'retry', afterMs: verdict.afterMs, detail };
    case 'later':
      return { kind: 'retry', detail, ...(verdict.afterMs !== undefined && { afterMs: verdict.afterMs }) };
    case 'maybe':
      return { kind: 'retry', detail };
    case 'credential':
      return { kind: 'pause', cause: 'credential', detail };
    case 'channel':
    case 'not-in-channel':
      if (hasOneChannel) return { kind: 'pause', cause: 'destination', detail };
      return { kind: 'rejected', cause: `slack:${verdict.code}`, detail };
    case 'no-message':
    case 'fixed':
      return { kind: 'rejected', cause: `slack:${verdict.code}`, detail, about: 'record' };
    case 'refused':
      return { kind: 'rejected', cause: `slack:${verdict.code}`, detail };
  }
}
