import type { Refusal } from './quota-rules.js';

const reasons: Readonly<Record<Refusal['reason'], string>> = {
  'used-up': 'the request quota of this key is used up',
  'kept-for-imports': 'the rest of the request quota is reserved for imports',
  'kept-for-others': 'the rest of the request quota is needed for requests of higher priority',
  'one-at-a-time': 'the request quota is nearly used up, and another request is in progress',
};

/**
 * Thrown instead of making a request when the quota has no permit for it now. This is a wait and not a failure:
 * `judgeFailure` decides whether only the request waits, or the whole workspace.
 */
export class PermitRefusal extends Error {
  override readonly name = 'PermitRefusal';
  readonly scope: Refusal['scope'];
  readonly reason: Refusal['reason'];
  readonly waitMs: number;

  constructor({ scope, reason, waitMs }: Refusal) {
    super(`${reasons[reason]}: waiting ${Math.ceil(waitMs / 1000)} s`);
    this.scope = scope;
    this.reason = reason;
    this.waitMs = waitMs;
  }
}
