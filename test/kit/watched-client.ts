import { performance } from 'node:perf_hooks';
import { ApiError } from '../../pigeonhole/api-error.js';
import { createPigeonholeClient, type PigeonholeClient } from '../../pigeonhole/client.js';

export interface WatchedClient extends PigeonholeClient {
  /** Time at which each page was requested, by `performance.now`. */
  readonly startedAt: number[];
  /** Times at which it learned that the quota is used up. */
  readonly refusedAt: number[];
}

/** Creates a client that records its requests and the refusals because of a used-up quota. */
export function watchedClient(baseUrl: string, apiKey = 'sandbox-key'): WatchedClient {
  const client = createPigeonholeClient({ baseUrl, apiKey });
  const startedAt: number[] = [];
  const refusedAt: number[] = [];
  return {
    ...client,
    startedAt,
    refusedAt,
    async page(list, options) {
      startedAt.push(performance.now());
      try {
        return await client.page(list, options);
      } catch (error) {
        if (error instanceof ApiError && error.kind === 'quota') refusedAt.push(performance.now());
        throw error;
      }
    },
  };
}
