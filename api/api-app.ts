import type { Context } from 'hono';
import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Caller } from './authenticate.js';
import type { RefusedActions } from './refused-actions.js';

/** What every request carries through its routes. */
export interface ApiEnvironment {
  Variables: {
    /** As in `X-Request-Id`. */
    requestId: string;
    caller: Caller;
    /** What a request to this route looks like, for whoever sent another. */
    looksLike: string | undefined;
    /** Number of the audit log's row in which this request stands; undefined: in none yet. */
    audited: number | undefined;
    /** Bounds the audit lines of requests that change nothing. */
    refusedActions: RefusedActions;
  };
}

export type ApiApp = OpenAPIHono<ApiEnvironment>;
export type ApiContext = Context<ApiEnvironment>;
