import { createHash, randomBytes } from 'node:crypto';
import { createRoute, z } from '@hono/zod-openapi';
import { instant } from '../base/printable.js';
import type { ApiApp, ApiSources } from './api-app.js';
import { audited } from './audit-log.js';
import type { Holder } from './credentials.js';
import { answers, jsonBody, needs } from './route-parts.js';

/** Time for which a code works. */
export const codeLastsMs = 10 * 60_000;

/**
 * Maximum number of codes of one token, more than a person needs at a time. Its oldest one is discarded first, so that no
 * token can invalidate the codes of another.
 */
const maxCodesPerHolder = 20;

interface MadeCode {
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
    const untilMs = this.now() + codeLastsMs;
    for (const [hash, old] of this.#codes) if (old.untilMs <= this.now()) this.#codes.delete(hash);
    const own = [...this.#codes].filter(([, old]) => isSameHolder(old.holder, holder));
    if (own.length >= maxCodesPerHolder) this.#codes.delete(own[0]![0]);
    this.#codes.set(hashOf(code), { holder, untilMs });
    return { code, expiresAt: new Date(untilMs) };
  }

  /** Returns the owner of a code, without using it. @returns undefined as `take` */
  find(code: string): Holder | undefined {
    const found = this.#codes.get(hashOf(code));
    return found !== undefined && found.untilMs > this.now() ? found.holder : undefined;
  }

  /** Uses a code. @returns undefined if it was not created here, was used, or has expired */
  take(code: string): Holder | undefined {
    const holder = this.find(code);
    this.#codes.delete(hashOf(code));
    return holder;
  }
}

function isSameHolder(one: Holder, other: Holder): boolean {
  const nameOf = (holder: Holder): string => (holder.kind === 'token' ? holder.id : holder.by);
  return nameOf(one) === nameOf(other);
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
    code: z
      .string()
      .describe('`/?code=…` leads to a page that asks a person to sign the browser in. A code works once.'),
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
  responses: answers('The one-time code.', codeSchema, 413, 415),
});

export function servePageCodes(app: ApiApp, { ledger, pageCodes }: Pick<ApiSources, 'ledger' | 'pageCodes'>): void {
  app.openapi(codeRoute, async (c) => {
    const { token, name } = c.get('caller');
    const by = name === 'server.token' ? 'server.token' : 'local';
    const holder: Holder = token === null ? { kind: 'administrator', by } : { kind: 'token', id: token };
    const made = await audited(
      c,
      ledger,
      { action: 'create-page-code', target: null, changesNothing: true },
      async () => pageCodes.make(holder),
    );
    return c.json({ code: made.code, expiresAt: made.expiresAt.toISOString() }, 200);
  });
}
