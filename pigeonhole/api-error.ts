import type { Quota } from './response-headers.js';

/**
 * What a failed call asks of the caller. Closed: a new kind does not compile until every switch over it decides.
 * - `quota` the plan's requests are used up (8000, 429): wait until the reset
 * - `throttled` asked too fast (503 without a code): wait a little, nothing was counted
 * - `credential` the key is refused (4501, 401): all calls with it will be
 * - `transient` the network, or an answer that says nothing lasting: the same call may succeed later
 * - `pigeonholeNotFound`, `sessionNotFound` (4504, 4509), `notFound` (other codes): the service itself says it is not there
 * - `invalid` a field of the body was refused (4500), `invalidParameter` a query value, a cursor among them (6000)
 * - `malformed` the request could not be read (7001), `unsupported` the service does not offer this (9000)
 * - `registrantsOff`, `profilesOff` a feature is disabled in the pigeonhole (4507, 4508)
 * - `protocol` the answer breaks the contract: asking again will not mend it, a person should look
 * - `aborted` the caller's signal, or the client was closed
 */
export const apiErrorKinds = [
  'quota',
  'throttled',
  'credential',
  'transient',
  'pigeonholeNotFound',
  'sessionNotFound',
  'notFound',
  'invalid',
  'invalidParameter',
  'malformed',
  'unsupported',
  'registrantsOff',
  'profilesOff',
  'protocol',
  'aborted',
] as const;

export type ApiErrorKind = (typeof apiErrorKinds)[number];

/** A field that the service refused. `message` is the service's own text and may quote what was sent: never log it. */
export interface FieldError {
  readonly field: string;
  readonly message: string;
}

/** The call that failed: enough to find it, nothing that could be personal. */
export interface Call {
  readonly method: 'GET' | 'POST';
  /** From `/v2` on, without the query. */
  readonly path: string;
}

export interface ApiErrorFacts {
  readonly kind: ApiErrorKind;
  /** What happened, as the middle of a sentence, in our words. */
  readonly problem: string;
  readonly code?: number | null;
  readonly status?: number | null;
  readonly requestId?: string | null;
  readonly retryAfterMs?: number | undefined;
  readonly quota?: Quota | null;
  readonly fieldErrors?: readonly FieldError[] | undefined;
  readonly serviceMessage?: string | undefined;
  readonly mayHaveTakenEffect: boolean;
  /** Must be free of payload and headers: whoever logs an error follows its causes. */
  readonly cause?: unknown;
}

const nextSteps: Readonly<Record<ApiErrorKind, string>> = {
  quota: 'wait until the quota resets',
  throttled: 'wait a little and ask less often',
  credential: 'check the API key of this workspace',
  transient: 'try again later',
  pigeonholeNotFound: 'check that the pigeonhole exists in the workspace of this key',
  sessionNotFound: 'check that the session exists in this pigeonhole',
  notFound: 'check the ids of the request',
  invalid: 'correct the refused fields',
  invalidParameter: 'drop a stored cursor or correct the filter',
  malformed: 'report this as a defect of the request',
  unsupported: 'do without this resource or option',
  registrantsOff: 'enable registrants for the pigeonhole in the dashboard of the service',
  profilesOff: 'enable attendee profiles for the pigeonhole in the dashboard of the service',
  protocol: 'compare the answer with docs/service-contract.md',
  aborted: 'nothing needs to be done',
};

/**
 * Whatever goes wrong between a call and its checked answer; the only error that a client's calls reject with, but for
 * RangeError when an id or a count is impossible. Holds no key, no query value, no text of the service and no payload,
 * because workflow histories and logs keep it as plain text. `fieldErrors`, which may quote what was sent, is a getter
 * that neither inspect nor JSON nor pino print; all three would look into a property named `errors`.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly kind: ApiErrorKind;
  /** The service's own code; null when the answer had none, or there was no answer. */
  readonly code: number | null;
  /** HTTP status; null when no answer came. */
  readonly status: number | null;
  /** The answer's X-Request-Id, which the service's operators ask for. */
  readonly requestId: string | null;
  readonly method: Call['method'];
  readonly path: string;
  /** From Retry-After, as a wait from now. */
  readonly retryAfterMs?: number;
  /** When the quota is full again, epoch ms by our clock. */
  readonly resetAtMs?: number;
  readonly quota: Quota | null;
  /** False only when the service certainly did not carry out the call. Decides whether a POST must be looked up before it is repeated. */
  readonly mayHaveTakenEffect: boolean;
  readonly #fieldErrors: readonly FieldError[] | undefined;
  readonly #serviceMessage: string | undefined;

  constructor(call: Call, facts: ApiErrorFacts) {
    super(messageOf(call, facts), facts.cause === undefined ? undefined : { cause: facts.cause });
    this.kind = facts.kind;
    this.code = facts.code ?? null;
    this.status = facts.status ?? null;
    this.requestId = facts.requestId ?? null;
    this.method = call.method;
    this.path = call.path;
    this.quota = facts.quota ?? null;
    this.mayHaveTakenEffect = facts.mayHaveTakenEffect;
    if (facts.retryAfterMs !== undefined) this.retryAfterMs = facts.retryAfterMs;
    if (facts.quota?.resetAtMs != null) this.resetAtMs = facts.quota.resetAtMs;
    this.#fieldErrors = facts.fieldErrors;
    this.#serviceMessage = facts.serviceMessage;
  }

  /** The refused fields of a validation error (4500), as the service names them. For reports, not for logs. */
  get fieldErrors(): readonly FieldError[] | undefined {
    return this.#fieldErrors;
  }

  /** The service's own words for the whole answer, which may quote what was sent. For reports, not for logs. */
  get serviceMessage(): string | undefined {
    return this.#serviceMessage;
  }
}

function messageOf({ method, path }: Call, { kind, problem, code, status, requestId }: ApiErrorFacts): string {
  const identity = [
    code == null ? 'no code' : `code ${code}`,
    status == null ? 'no HTTP status' : `HTTP ${status}`,
    requestId == null ? 'no request id' : `request ${requestId}`,
  ];
  return `${method} ${path}: ${problem} (${identity.join(', ')}); ${nextSteps[kind]}.`;
}

/** Every error code that the specification lists. Source: docs/service-contract.md, "Errors". */
export const errorCodes = {
  invalidFormatOrValue: 4500,
  authenticationFailed: 4501,
  notFound: 4502,
  workspaceNotFound: 4503,
  pigeonholeNotFound: 4504,
  subscriptionNotFound: 4505,
  profileFieldNotFound: 4506,
  registrantsNotAvailable: 4507,
  attendeeProfilesNotAvailable: 4508,
  sessionNotFound: 4509,
  registrantNotFound: 4510,
  oneTimeTokenNotFound: 4511,
  speakerNotFound: 4512,
  internalServerError: 5000,
  invalidParameterValue: 6000,
  malformedRequest: 7001,
  requestExceededLimit: 8000,
  unsupportedFeature: 9000,
} as const;

export type ErrorCodeName = keyof typeof errorCodes;

/** What each code asks of the caller. A missing pigeonhole and a missing session each end a reading, so they stand apart. */
const kinds: Readonly<Record<ErrorCodeName, ApiErrorKind>> = {
  invalidFormatOrValue: 'invalid',
  authenticationFailed: 'credential',
  notFound: 'notFound',
  workspaceNotFound: 'notFound',
  pigeonholeNotFound: 'pigeonholeNotFound',
  subscriptionNotFound: 'notFound',
  profileFieldNotFound: 'notFound',
  registrantsNotAvailable: 'registrantsOff',
  attendeeProfilesNotAvailable: 'profilesOff',
  sessionNotFound: 'sessionNotFound',
  registrantNotFound: 'notFound',
  oneTimeTokenNotFound: 'notFound',
  speakerNotFound: 'notFound',
  internalServerError: 'transient',
  invalidParameterValue: 'invalidParameter',
  malformedRequest: 'malformed',
  requestExceededLimit: 'quota',
  unsupportedFeature: 'unsupported',
};

const kindByCode = new Map<number, ApiErrorKind>(
  Object.entries(errorCodes).map(([name, code]) => [code, kinds[name as ErrorCodeName]]),
);

/** The kind that a code of the body means; undefined for a code that the specification does not list. */
export function kindOfCode(code: number): ApiErrorKind | undefined {
  return kindByCode.get(code);
}
