import type { Context } from 'hono';
import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Caller } from './authenticate.js';
import type { RefusedActions } from './audit-bounds.js';

/** Variables that every request carries through its routes. */
export interface ApiEnvironment {
  Variables: {
    /** The value of `X-Request-Id`. */
    requestId: string;
    caller: Caller;
    /** Describes a valid request to this route, for the error message of an invalid one. */
    looksLike: string | undefined;
    /** Number of this request's row in the audit log; undefined while it has none. */
    audited: number | undefined;
    /** Bounds the audit lines of requests that change nothing. */
    refusedActions: RefusedActions;
  };
}

export type ApiApp = OpenAPIHono<ApiEnvironment>;
export type ApiContext = Context<ApiEnvironment>;
