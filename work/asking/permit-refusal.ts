import type { Refusal } from './quota-rules.js';

const reasons: Readonly<Record<Refusal['reason'], string>> = {
  'used-up': 'the request quota of this key is used up',
  'kept-for-imports': 'what is left of the request quota is kept for imports',
  'kept-for-others': 'what is left of the request quota is needed for what is live',
  'one-at-a-time': 'the request quota is nearly used up, and another request is under way',
};

/**
 * No request was made, because the quota does not allow it now. A state to wait through: `judgeFailure` says who waits,
 * and no attempt is used.
 */
export class PermitRefusal extends Error {
  override readonly name = 'PermitRefusal';
  readonly scope: Refusal['scope'];
  readonly reason: Refusal['reason'];
  readonly waitMs: number;

  constructor({ scope, reason, waitMs }: Refusal) {
    super(`${reasons[reason]}: nothing is asked for ${Math.ceil(waitMs / 1000)} s`);
    this.scope = scope;
    this.reason = reason;
    this.waitMs = waitMs;
  }
}
