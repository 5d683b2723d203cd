import type { DoubleAnswer, DoubleRequest } from '../serve/double-request.js';
import { RollingLimit } from '../serve/call-limit.js';
import { anything, type RequestRule } from '../serve/request-rules.js';
import { type RunningDouble, serveDouble, type ServeOptions } from '../serve/serve-double.js';
import { clientCredentialsRule, TokenEndpoint } from '../serve/token-endpoint.js';

interface MarketoOptions extends ServeOptions {
  /** Number of calls that the subscription accepts in 20 seconds, from all integrations together. */
  readonly per20s?: number;
  /** Number of calls that it accepts in a day. */
  readonly perDay?: number;
}

/** A new subscription. */
export const freshAccount = { per20s: 100, perDay: 50_000 } as const satisfies Omit<MarketoOptions, keyof ServeOptions>;

export type Lead = Record<string, unknown> & { readonly id: number };

export interface MarketoDouble extends RunningDouble {
  readonly leads: Lead[];
}

const fields = new Set(['email', 'firstName', 'lastName', 'lastEvent']);

const rules: readonly RequestRule[] = [
  clientCredentialsRule(/^\/identity\/oauth\/token$/),
  { method: 'GET', path: /\/leads\/describe\.json$/, headers: ['authorization'] },
  {
    method: 'POST',
    path: /\/leads\.json$/,
    headers: ['authorization'],
    json: { action: anything, lookupField: anything, input: [anything] },
  },
];

/**
 * Starts the leads of a Marketo subscription and its identity endpoint. Almost every failure is an answer with HTTP
 * 200. The subscription starts with one lead, and two that share an address. Sources: sinks/http/README.md, "Marketo".
 */
export async function startMarketoDouble(options: MarketoOptions = {}): Promise<MarketoDouble> {
  const { per20s, perDay } = { ...freshAccount, ...options };
  const limit = new RollingLimit(per20s, 20_000);
  let calls = 0;
  const tokens = new TokenEndpoint({ id: 'marketo-client', secret: 'marketo-secret' });
  const leads: Lead[] = [
    { id: 1, email: 'bob@example.com', firstName: 'Bob', lastName: 'Customer', lastEvent: 'Summit 2025' },
    { id: 2, email: 'twice@example.com' },
    { id: 3, email: 'twice@example.com' },
  ];
  const answer = (request: DoubleRequest): DoubleAnswer => {
    const { method, path } = request;
    if (path === '/identity/oauth/token') return tokens.answer(request);
    if (!tokens.accepts(request)) return failure('601');
    if (!limit.take(request.atMs)) return failure('606');
    calls += 1;
    if (calls > perDay) return failure('607');
    if (path === '/rest/v1/leads/describe.json' && method === 'GET') return success([]);
    if (path !== '/rest/v1/leads.json' || method !== 'POST') return failure('610');
    if (request.headers['content-type'] !== 'application/json') return failure('612');
    if (Buffer.byteLength(request.body) > 1_000_000) return { status: 413 };
    const body = JSON.parse(request.body) as Record<string, unknown>;
    const { input, action } = body;
    const by = body['lookupField'] === 'id' ? 'id' : 'email';
    const isKnown = action === (by === 'id' ? 'updateOnly' : 'createOrUpdate');
    if (!isKnown || body['lookupField'] !== by) return failure('1003');
    if (!Array.isArray(input) || input.length === 0 || input.length > 300) return failure('1004');
    return success(input.map((each) => sync(each as Record<string, unknown>, by)));
  };

  function sync(input: Record<string, unknown>, by: 'email' | 'id'): Record<string, unknown> {
    const skipped = (code: string) => ({ status: 'skipped', reasons: [{ code, message: 'refused' }] });
    if (Object.keys(input).some((name) => name !== by && !fields.has(name))) return skipped('1006');
    const found = leads.filter((lead) => lead[by] === input[by]);
    if (found.length > 1) return skipped('1007');
    if (found[0] !== undefined) {
      Object.assign(found[0], input);
      return { id: found[0].id, status: 'updated' };
    }
    if (by === 'id') return skipped('1004');
    const lead = { ...input, id: leads.length + 1 };
    leads.push(lead);
    return { id: lead.id, status: 'created' };
  }

  const double = await serveDouble({ answer, state: () => leads, rules }, options);
  return { ...double, leads };
}

export function failure(code: string): DoubleAnswer {
  return { status: 200, json: { requestId: 'e42b#1', success: false, errors: [{ code, message: 'refused' }] } };
}

function success(result: readonly unknown[]): DoubleAnswer {
  return { status: 200, json: { requestId: 'e42b#1', success: true, result } };
}
