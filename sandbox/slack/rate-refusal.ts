/** A call that came too fast: HTTP 429 with `Retry-After` in seconds, unlike every other refusal of the Web API. */
export class RateRefusal extends Error {
  override readonly name = 'RateRefusal';

  constructor(readonly retryAfterSeconds: number) {
    super('ratelimited');
  }
}
