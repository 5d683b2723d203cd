import { ApiError, type Call } from './api-error.js';

/** Failures of setting up a connection: the request was certainly not sent. Any other failure leaves that open. */
const beforeSending = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_PRX_TLS',
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION',
  'ERR_SSL_UNSUPPORTED_PROTOCOL',
  'ERR_SSL_WRONG_VERSION_NUMBER',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
]);

/** Why the client itself ended a request. */
export type Ending = 'caller' | 'deadline';

/**
 * What it means that no whole answer came.
 * @param ending set when the caller's signal or the deadline ended the request, whatever error that surfaced as
 */
export function transportFailure(call: Call, error: unknown, ending: Ending | undefined, timeoutMs: number): ApiError {
  if (ending === 'caller') {
    return new ApiError(call, { kind: 'aborted', problem: 'the caller ended the request', mayHaveTakenEffect: true });
  }
  if (ending === 'deadline') {
    const problem = `no complete answer came within ${timeoutMs} ms`;
    return new ApiError(call, { kind: 'transient', problem, mayHaveTakenEffect: true });
  }
  const code = codeOf(error);
  const cause = withoutPayload(error, code);
  switch (code) {
    case 'UND_ERR_CLOSED':
    case 'UND_ERR_DESTROYED':
      return new ApiError(call, { kind: 'aborted', problem: 'the client is closed', mayHaveTakenEffect: false, cause });
    case 'UND_ERR_RES_EXCEEDED_MAX_SIZE':
      return new ApiError(call, {
        kind: 'protocol',
        problem: 'the answer is larger than `network.maxAnswerMb` allows',
        mayHaveTakenEffect: true,
        cause,
      });
    case 'UND_ERR_ABORTED': // nothing of ours aborted it: this is how undici reports a tunnel that a proxy refused
      return new ApiError(call, {
        kind: 'transient',
        problem: 'the connection was given up, as when a proxy opens no tunnel',
        mayHaveTakenEffect: true,
        cause,
      });
    default: {
      const mayHaveTakenEffect = !beforeSending.has(code);
      const problem = mayHaveTakenEffect ? `the connection failed with ${code}` : `no connection was made: ${code}`;
      return new ApiError(call, { kind: 'transient', problem, mayHaveTakenEffect, cause });
    }
  }
}

function codeOf(error: unknown): string {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^\w{1,60}$/.test(code) ? code : 'an unnamed error';
}

/**
 * The cause with its name, message and code alone: undici's parser errors carry the bytes that they stumbled over, which
 * may be anybody's data, and its socket errors carry the socket.
 */
function withoutPayload(error: unknown, code: string): Error {
  const cause = new Error(error instanceof Error ? error.message : 'not an error');
  return Object.assign(cause, { name: error instanceof Error ? error.name : 'unknown', code });
}
