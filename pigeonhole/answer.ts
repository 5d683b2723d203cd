import type { Quota } from './quota.js';
import type { ResponseHeaders } from './response-headers.js';

/** A whole response, not yet understood. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly body: Uint8Array;
  /** When the request was made and when its answer was complete, epoch ms. */
  readonly requestedAt: number;
  readonly answeredAt: number;
}

/** A success. */
export interface ServiceAnswer {
  readonly status: number;
  /** Parsed JSON; undefined when the body was empty. */
  readonly body: unknown;
  readonly requestId: string | null;
  readonly requestedAt: number;
  readonly quota: Quota | null;
  readonly bytes: number;
  /**
   * SHA-256, in hex, of the bytes of `data` as they came; of the whole body where it has none. Not keyed: whoever has it
   * can try bodies against it.
   */
  readonly digest: string;
}
