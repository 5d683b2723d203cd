import { errors } from 'undici';
import { RefusedAddressError } from '../network/refused-address-error.js';
import type { Outcome } from '../sink.js';

const SENTENCES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refused the connection',
  ECONNRESET: 'closed the connection before answering',
  EPIPE: 'closed the connection before answering',
  UND_ERR_SOCKET: 'closed the connection before answering',
  ENOTFOUND: 'was not found by name: check "url"',
  EAI_AGAIN: 'could not be looked up: the name server did not answer',
  EHOSTUNREACH: 'cannot be reached from this network',
  ENETUNREACH: 'cannot be reached from this network',
  ETIMEDOUT: 'did not take the connection in time',
  UND_ERR_CONNECT_TIMEOUT: 'did not take the connection in time',
  UND_ERR_ABORTED: 'could not be reached through the proxy',
  CERT_HAS_EXPIRED: 'has a certificate that has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'has a certificate for another name',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'has a self-signed certificate: name it in "network.ca"',
  SELF_SIGNED_CERT_IN_CHAIN: 'has a certificate of an unknown authority: name it in "network.ca"',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'has a certificate of an unknown authority: name it in "network.ca"',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'has a certificate of an unknown authority: name it in "network.ca"',
};

/**
 * What it means that no answer came: always `retry`, since a change that did arrive is recognised by its id when it
 * comes again. Tells errors apart by code alone; a message could carry the URL, which may hold a token.
 */
export function classifyFailure(error: unknown, host: string): Outcome {
  return { kind: 'retry', detail: failureSentence(error, host) };
}

/** What went wrong on the way to the host, as a sentence without path, query or secret. */
export function failureSentence(error: unknown, host: string): string {
  if (error instanceof RefusedAddressError) return error.message;
  const code = codeOf(error);
  if (error instanceof errors.HTTPParserError) return `${host} answered with something that is not HTTP`;
  return `${host} ${SENTENCES[code] ?? `could not be asked (${code})`}`;
}

function codeOf(error: unknown): string {
  // Not instanceof: errors of Node's own modules come from another realm where code runs in a context of its own.
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
  return /^[A-Z][A-Z0-9_]{2,60}$/.test(code) ? code : 'no known cause';
}
