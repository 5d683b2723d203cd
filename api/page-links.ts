import type { ApiSources, ApiApp } from './api-app.js';
import { createHash, randomBytes } from 'node:crypto';
import { createRoute, z } from '@hono/zod-openapi';
import { audited } from './audit-log.js';
import type { Holder } from './credentials.js';
import { instant } from '../base/printable.js';
import { jsonAnswer, jsonBody, needs, problems } from './route-parts.js';

const validMs = 10 * 60_000;
/** Maximum number of codes, more than people need at a time. The oldest one is discarded first. */
const maxCodes = 100;

export interface MadeCode {
  /** `ppc_` and 144 random bits: short enough for a line of a terminal. */
  readonly code: string;
  readonly expiresAt: Date;
}

/**
 * Codes that sign a browser in. Each works once, within ten minutes, in the process that created it. Only hashes are
 * kept, in memory, so a restart invalidates all codes.
 */
export class PageCodes {
  readonly #codes = new Map<string, { readonly holder: Holder; readonly untilMs: number }>();

  constructor(private readonly now: () => number = Date.now) {}

  make(holder: Holder): MadeCode {
    const code = `ppc_${randomBytes(18).toString('base64url')}`;
    const untilMs = this.now() + validMs;
    this.#codes.set(hashOf(code), { holder, untilMs });
    for (const oldest of this.#codes.keys()) {
      if (this.#codes.size <= maxCodes) break;
      this.#codes.delete(oldest);
    }
    return { code, expiresAt: new Date(untilMs) };
  }

  /** Uses a code. @returns undefined if it was not created here, was used, or has expired */
  take(code: string): Holder | undefined {
    const hash = hashOf(code);
    const found = this.#codes.get(hash);
    this.#codes.delete(hash);
    return found !== undefined && found.untilMs > this.now() ? found.holder : undefined;
  }
}

function hashOf(code: string): string {
  return createHash('sha256').update(code).digest('base64url');
}

/** The page's address with a code, below the address of the server. */
export function linkWith(baseUrl: string, { code }: Pick<MadeCode, 'code'>): string {
  return `${baseUrl.replace(/\/$/, '')}/?code=${code}`;
}

const codeSchema = z
  .object({
    code: z.string().describe('Opening `/?code=…` in a browser signs the browser in. A code works once.'),
    expiresAt: instant(),
  })
  .openapi('PageCode');

export const codeRoute = createRoute({
  method: 'post',
  path: '/api/page-codes',
  operationId: 'createPageCode',
  tags: ['Tokens'],
  summary: 'Create a code that signs a browser in to the page with the rights of this token',
  ...needs({ right: 'read', looksLike: 'to create a code, send {}' }),
  request: { body: jsonBody(z.strictObject({})) },
  responses: { 200: jsonAnswer('The one-time code.', codeSchema), ...problems(413, 415) },
});

export function servePageCodes(app: ApiApp, { ledger, pageCodes }: Pick<ApiSources, 'ledger' | 'pageCodes'>): void {
  app.openapi(codeRoute, async (c) => {
    const { token } = c.get('caller');
    const holder: Holder = token === null ? { kind: 'administrator' } : { kind: 'token', id: token };
    const made = await audited(
      c,
      ledger,
      { action: 'create-page-code', target: null, changesNothing: true },
      async () => pageCodes.make(holder),
    );
    return c.json({ code: made.code, expiresAt: made.expiresAt.toISOString() }, 200);
  });
}
