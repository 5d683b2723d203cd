import { STATUS_CODES } from 'node:http';
import { errors } from 'undici';
import { ProxyFailure } from '../../base/proxy-connections.js';
import { RefusedAddressError } from './address-policy.js';
import { CutShort } from './within-deadline.js';
import type { CheckLine } from '../sink.js';

const SENTENCES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refused the connection',
  ECONNRESET: 'closed the connection before answering',
  EPIPE: 'closed the connection before answering',
  UND_ERR_SOCKET: 'closed the connection before answering',
  ENOTFOUND: 'was not found by name: check its address',
  EAI_AGAIN: 'could not be looked up: the name server did not answer',
  EHOSTUNREACH: 'cannot be reached from this network',
  ENETUNREACH: 'cannot be reached from this network',
  ETIMEDOUT: 'did not accept the connection in time',
  UND_ERR_CONNECT_TIMEOUT: 'did not accept the connection in time',
  UND_ERR_HEADERS_OVERFLOW: 'answered with headers longer than 1 MiB',
  CERT_HAS_EXPIRED: 'has a certificate that has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'has a certificate for another name',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'has a self-signed certificate: add it to "network.ca"',
  SELF_SIGNED_CERT_IN_CHAIN: 'has a certificate of an unknown authority: add it to "network.ca"',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'has a certificate of an unknown authority: add it to "network.ca"',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'has a certificate of an unknown authority: add it to "network.ca"',
};

/** Codes of failures before the connection was open. Nothing can have arrived. */
const NEVER_CONNECTED = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'ERR_REFUSED_ADDRESS',
  'ERR_PROXY',
]);

/** Causes at the proxy, in its sentences. The words follow "the destination". */
const proxyCauses: Readonly<Record<string, { readonly form: RegExp; readonly words: string }>> = {
  'proxy-credential': {
    form: /^the proxy \S+ refuses the user and password /,
    words: 'is not asked, because the proxy refuses its user and password',
  },
  'proxy-refusal': {
    form: /^the proxy \S+ opens no connection /,
    words: 'is not asked, because the proxy does not allow it',
  },
  'proxy-destination': { form: /^the proxy \S+ could not reach /, words: 'cannot be reached by the proxy' },
  proxy: {
    form: /^the proxy \S+ (cannot be reached|gave no answer)/,
    words: 'is not asked, because the proxy does not answer',
  },
};

/**
 * Describes a connection failure in a sentence without path, query or secret. Uses only the error's code, because its
 * message may contain the URL, and the URL may contain a token.
 */
export function failureSentence(error: unknown, host: string): string {
  if (error instanceof RefusedAddressError) return error.message;
  if (error instanceof ProxyFailure) return error.sentence(host);
  if (error instanceof errors.HTTPParserError) return `${host} answered with something that is not HTTP`;
  const code = codeOf(error);
  return `${host} ${SENTENCES[code] ?? `could not be reached (${code === '' ? 'no known cause' : code})`}`;
}

/** Whether a failed request certainly had no effect, so that it may be repeated even if it is not idempotent. */
export function neverArrived(error: unknown): boolean {
  return NEVER_CONNECTED.has(codeOf(error));
}

function codeOf(error: unknown): string {
  // Does not use instanceof, because under Jest, errors of Node's own modules come from another realm.
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
  return /^[A-Z][A-Z0-9_]{2,60}$/.test(code) ? code : '';
}

/**
 * Returns the cause that a sink's sentence about a failure names, as a code: `http:429`, `no-answer`, or the code of a
 * connection failure; null: the sentence names none of these. Alerts use the code, because they never quote the
 * sentence: it may contain words of the vendor. Pure.
 */
export function failureCode(sentence: string): string | null {
  const proxy = Object.keys(proxyCauses).find((code) => proxyCauses[code]!.form.test(sentence));
  if (proxy !== undefined) return proxy;
  const [, status] = /\bHTTP ([1-5]\d\d)\b/.exec(sentence) ?? [];
  if (status !== undefined) return `http:${status}`;
  if (/ did not answer .*within [\d.]+ s/.test(sentence)) return 'no-answer';
  return Object.keys(SENTENCES).find((code) => sentence.includes(` ${SENTENCES[code]}`)) ?? null;
}

/** Returns what the destination does, given a code of `failureCode`: "answers HTTP 503 (Service Unavailable)". Pure. */
export function failureWords(code: string): string {
  const [, status] = /^http:(\d{3})$/.exec(code) ?? [];
  if (status === undefined) return proxyCauses[code]?.words ?? SENTENCES[code] ?? 'does not answer in time';
  const name = STATUS_CODES[status];
  return `answers HTTP ${status}${name === undefined ? '' : ` (${name})`}`;
}

interface UnansweredCall {
  readonly host: string;
  /** The vendor's name in messages. */
  readonly name: string;
  readonly timeoutMs: number;
  /** The thing that was requested, if its name helps the operator. */
  readonly what?: string | undefined;
}

/** Describes in a sentence why a call of `withinDeadline` has no answer, without path, query or secret. */
export function noAnswerSentence(error: unknown, { host, name, timeoutMs, what }: UnansweredCall): string {
  if (!(error instanceof CutShort)) return failureSentence(error, host);
  if (error.reason === 'stopped') return `stopped before ${name} answered`;
  return `${host} did not answer ${what === undefined ? '' : `${what} `}within ${timeoutMs / 1000} s`;
}

/**
 * Returns the line of `pigeonpost check` for a receiver that answered. Most statuses below 500 mean that the receiver
 * was reached.
 * @param key the configuration key of the receiver's address
 * @param later a clause about what the check cannot find out before the first request
 */
export function reachedLine(
  host: string,
  status: number,
  { key, later }: { readonly key: string; readonly later: string },
): CheckLine {
  const bad = (text: string): CheckLine => ({ ok: false, text: `${host} ${text}` });
  if (status === 410) return bad(`answers HTTP 410 (Gone), so it wants no more requests: check "${key}"`);
  if (status >= 300 && status < 400) {
    return bad(
      `redirects (HTTP ${status}), and pigeonpost does not follow redirects: set "${key}" to the final address`,
    );
  }
  if (status >= 500) return bad(`was reached, but answered HTTP ${status}: check the receiver`);
  return { ok: true, text: `${host} is reached; ${later}` };
}
