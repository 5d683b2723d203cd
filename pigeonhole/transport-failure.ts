import { ProxyFailure } from '../base/proxy-connections.js';
import { ApiError, type ApiErrorFacts, type Call } from './api-error.js';

/** Errors while connecting, after which the request was certainly not sent. After any other error, it may have been sent. */
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

/** Failures whose usual cause is a wrong address. They may also pass, so they stay transient. */
const wrongAddress: Readonly<Record<string, { readonly problem: string; readonly nextStep?: string }>> = {
  ENOTFOUND: {
    problem: 'the host of the service was not found by name',
    nextStep: 'check "baseUrl" of the workspace, and the name server',
  },
  ECONNREFUSED: {
    problem: 'the host of the service refused the connection',
    nextStep: 'check "baseUrl" of the workspace, and that the service runs',
  },
};

/** The reason why the client itself ended a request. */
export type Ending = 'caller' | 'deadline';

/**
 * Converts a failed request, without a complete answer, into an ApiError.
 * @param ending set if the caller's signal or the deadline ended the request, whatever error that produced
 */
export function transportFailure(call: Call, error: unknown, ending: Ending | undefined, timeoutMs: number): ApiError {
  const code = codeOf(error);
  const failure = (facts: Pick<ApiErrorFacts, 'kind' | 'problem' | 'nextStep' | 'mayHaveTakenEffect'>): ApiError =>
    new ApiError(call, { ...facts, cause: ending === undefined ? withoutPayload(error, code) : undefined });
  const mayHaveTakenEffect = true;
  if (ending === 'caller')
    return failure({ kind: 'aborted', problem: 'the caller aborted the request', mayHaveTakenEffect });
  if (ending === 'deadline') {
    const problem = `no complete answer arrived within ${timeoutMs / 1000} s`;
    return failure({ kind: 'transient', problem, mayHaveTakenEffect });
  }
  if (error instanceof ProxyFailure) {
    const { status } = error;
    const nextStep =
      status === 407
        ? 'check the user and the password in "network.proxy"'
        : status === null
          ? 'check "network.proxy", and that the proxy runs'
          : error.isAboutDestination
            ? 'check "baseUrl" of the workspace'
            : 'allow the host of the service in the proxy, or add it to "network.noProxy"';
    return failure({ kind: 'transient', problem: error.sentence('the service'), nextStep, mayHaveTakenEffect: false });
  }
  switch (code) {
    case 'UND_ERR_HEADERS_OVERFLOW':
      return failure({
        kind: 'protocol',
        problem: 'the headers of the answer are longer than 1 MiB',
        mayHaveTakenEffect,
      });
    case 'UND_ERR_CLOSED':
    case 'UND_ERR_DESTROYED':
      return failure({ kind: 'aborted', problem: 'the client is closed', mayHaveTakenEffect: false });
    case 'UND_ERR_RES_EXCEEDED_MAX_SIZE': {
      const problem = 'the answer is larger than `network.maxAnswerMb` allows';
      return failure({ kind: 'protocol', problem, mayHaveTakenEffect });
    }
  }
  if (!beforeSending.has(code)) {
    return failure({ kind: 'transient', problem: `the connection failed with ${code}`, mayHaveTakenEffect });
  }
  const { problem, nextStep } = wrongAddress[code] ?? { problem: 'the connection could not be opened' };
  return failure({ kind: 'transient', problem: `${problem} (${code})`, nextStep, mayHaveTakenEffect: false });
}

function codeOf(error: unknown): string {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^\w{1,60}$/.test(code) ? code : 'an unnamed error';
}

/**
 * Copies only name, message and code of an error. undici's parser errors also hold the bytes that they failed on, which
 * may be personal data, and its socket errors hold the socket.
 */
function withoutPayload(error: unknown, code: string): Error {
  const cause = new Error(error instanceof Error ? error.message : 'not an error');
  return Object.assign(cause, { name: error instanceof Error ? error.name : 'unknown', code });
}
