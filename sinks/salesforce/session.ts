import { fieldsOf } from '../fields-of.js';
import { CallFailure } from './call-failure.js';
import { loginAssertion, type Identity } from './login-assertion.js';
import type { Answer } from './classify-answer.js';
import { retryAfterMs } from '../network/retry-after.js';

export interface Session {
  readonly token: string;
  /** Scheme and host of the org, without a slash at its end. */
  readonly instanceUrl: string;
}

export interface SessionSource {
  readonly identity: Identity;
  readonly privateKeyPem: () => string;
  /** Unix time in ms. */
  readonly now: () => number;
  /** POSTs a form to the token endpoint. @throws {CallFailure} when no answer came */
  readonly postForm: (form: string) => Promise<Answer>;
}

/**
 * The session in which calls are made, shared by all lanes: logs in when there is none, at most once at a time. How
 * long one lasts is the org's affair and told nowhere: it is used until Salesforce says that it has ended.
 */
export class Sessions {
  #session: Session | undefined;
  #pending: Promise<Session> | undefined;

  constructor(private readonly source: SessionSource) {}

  /** @throws {CallFailure} when it cannot log in */
  async get(): Promise<Session> {
    if (this.#session !== undefined) return this.#session;
    this.#pending ??= this.#logIn().finally(() => {
      this.#pending = undefined;
    });
    return await this.#pending;
  }

  /** The next call logs in anew, unless another has already. */
  end(session: Session): void {
    if (this.#session === session) this.#session = undefined;
  }

  async #logIn(): Promise<Session> {
    const { identity, privateKeyPem, now, postForm } = this.source;
    const assertion = loginAssertion(identity, privateKeyPem(), now());
    const form = new URLSearchParams({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion });
    this.#session = sessionOf(await postForm(form.toString()));
    return this.#session;
  }
}

/** What to do about the refusals of the token endpoint that are known by their words. */
const advice: readonly (readonly [RegExp, string])[] = [
  [/hasn.t approved this consumer/i, "pre-authorize the user's profile or permission set for the app"],
  [/audience/i, 'check "loginUrl"'],
  [/invalid assertion|signature/i, 'compare "privateKey" with the certificate of the app'],
  [/expired|exp/i, "compare the clock of this machine with the world's"],
  [/inactive user|user.*locked/i, 'activate the user'],
  [/client identifier/i, 'check "clientId"; a new app takes some minutes to be known'],
];

/** @throws {CallFailure} when it is no session: a pause where only a person can mend it */
function sessionOf({ status, body, requestId, retryAfter, answeredAtMs }: Answer): Session {
  const said = fieldsOf(body);
  if (status === 200 && typeof said.access_token === 'string' && typeof said.instance_url === 'string') {
    const instanceUrl = originOf(said.instance_url);
    if (instanceUrl !== undefined) return { token: said.access_token, instanceUrl };
  }
  const code = typeof said.error === 'string' && /^[a-z_]{3,60}$/.test(said.error) ? ` ${said.error}` : '';
  const at = requestId === undefined ? '' : `, request ${requestId}`;
  if (status === 400 || status === 401 || status === 403) {
    const words = typeof said.error_description === 'string' ? said.error_description : '';
    const next = advice.find(([known]) => known.test(words))?.[1] ?? 'check "clientId", "username" and "privateKey"';
    throw new CallFailure({
      kind: 'pause',
      cause: 'credential',
      detail: `Salesforce refuses the login (HTTP ${status}${code}${at}): ${next}`,
    });
  }
  const afterMs = retryAfterMs(retryAfter, answeredAtMs);
  throw new CallFailure({
    kind: 'retry',
    detail: `Salesforce answered the login with HTTP ${status}${code}${status === 200 ? ' and no session' : ''}${at}`,
    ...(afterMs !== undefined && { afterMs }),
  });
}

function originOf(found: string): string | undefined {
  if (!URL.canParse(found)) return undefined;
  const { protocol, origin } = new URL(found);
  // What it says is where personal data goes: never without TLS. Test doubles are reached through "baseUrl".
  return protocol === 'https:' || protocol === 'http:' ? origin.replace(/^http:/, 'https:') : undefined;
}
