import type { DoubleAnswer, DoubleRequest } from './double-request.js';
import type { RequestRule } from './request-rules.js';

/** An OAuth 2 client of a double. */
export interface Client {
  readonly id: string;
  readonly secret: string;
  readonly scope?: string;
}

/** The request for a token: a form and no other credential. */
export const clientCredentialsRule = (path: RegExp): RequestRule => ({
  method: 'POST',
  path,
  form: ['grant_type', 'client_id', 'client_secret', 'scope'],
});

/** Issues tokens for client credentials that are sent in the form, and knows the tokens that it issued. */
export class TokenEndpoint {
  #issued = 0;

  constructor(private readonly client: Client) {}

  answer(request: DoubleRequest): DoubleAnswer {
    if (request.headers['authorization'] !== undefined) return refusal('invalid_request');
    const form = new URLSearchParams(request.body);
    if (form.get('grant_type') !== 'client_credentials') return refusal('unsupported_grant_type');
    const { id, secret, scope } = this.client;
    if (form.get('client_id') !== id || form.get('client_secret') !== secret) return refusal('invalid_client');
    if ((form.get('scope') ?? undefined) !== scope) return refusal('invalid_scope');
    this.#issued += 1;
    return {
      status: 200,
      json: { access_token: `token-${this.#issued}`, token_type: 'Bearer', expires_in: 3599 },
    };
  }

  /** Whether the request's `Authorization` header has a token from this endpoint. */
  accepts({ headers, query }: DoubleRequest): boolean {
    const number = /^Bearer token-(\d+)$/.exec(headers['authorization'] ?? '')?.[1];
    return number !== undefined && Number(number) <= this.#issued && !query.has('access_token');
  }
}

function refusal(error: string): DoubleAnswer {
  return { status: error === 'invalid_client' ? 401 : 400, json: { error } };
}
