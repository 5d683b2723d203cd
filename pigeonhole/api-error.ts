import type { Quota } from './response.js';

/**
 * The reaction that a failed call requires. A new kind does not compile until every switch over the kinds handles it.
 * - `quota` the requests of the plan are used up (8000, 429): wait until the reset
 * - `throttled` too many requests at a time (503 without a JSON body): wait briefly; the request was not counted
 * - `credential` the service rejected the key (4501, 401): every call with it will fail
 * - `transient` a network failure, or an error that may pass: the same call may succeed later
 * - `pigeonholeNotFound`, `sessionNotFound` (4504, 4509), `notFound` (other codes): the service itself, not a proxy, says
 *   that the requested resource does not exist
 * - `invalid` the service rejected a field of the body (4500); `invalidParameter` a query value, such as a cursor
 *   (6000)
 * - `malformed` the service could not parse the request (7001); `unsupported` the service does not offer this (9000)
 * - `registrantsOff`, `profilesOff` a feature is disabled in the pigeonhole (4507, 4508)
 * - `protocol` the answer breaks the contract: a retry does not help, a person has to investigate
 * - `aborted` the caller's signal fired, or the client was closed
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

/**
 * A field that the service rejected. `message` is the service's own text and may quote the data that was sent: never
 * log it.
 */
export interface FieldError {
  readonly field: string;
  readonly message: string;
}

/** The call that failed: enough to identify it, without personal data. */
export interface Call {
  readonly method: 'GET' | 'POST';
  /** Starts with `/v2`; has no query. */
  readonly path: string;
}

export interface ApiErrorFacts {
  readonly kind: ApiErrorKind;
  /** A description of the failure in our own words, without a capital letter or a full stop. */
  readonly problem: string;
  /** Replaces the next step of the kind if the cause of the failure is known more exactly. */
  readonly nextStep?: string | undefined;
  readonly code?: number | null;
  readonly status?: number | null;
  readonly requestId?: string | null;
  readonly retryAfterMs?: number | undefined;
  readonly quota?: Quota | null;
  readonly fieldErrors?: readonly FieldError[] | undefined;
  readonly serviceMessage?: string | undefined;
  readonly mayHaveTakenEffect: boolean;
  /** Must not hold a payload or headers, because loggers print the causes of an error. */
  readonly cause?: unknown;
}

const nextSteps: Readonly<Record<ApiErrorKind, string>> = {
  quota: 'wait until the quota resets',
  throttled: 'wait briefly and send requests less often',
  credential: 'check the API key of this workspace',
  transient: 'the same request may succeed later',
  pigeonholeNotFound: 'check that the pigeonhole exists in the workspace of this key',
  sessionNotFound: 'check that the session exists in this pigeonhole',
  notFound: 'check the ids of the request',
  invalid: 'correct the rejected fields',
  invalidParameter: 'discard the stored cursor or correct the filter',
  malformed: 'report this as a defect of pigeonpost',
  unsupported: 'do without this resource or option',
  registrantsOff: 'enable registrants for the pigeonhole in the dashboard of the service',
  profilesOff: 'enable attendee profiles for the pigeonhole in the dashboard of the service',
  protocol: 'compare the answer with docs/service-contract.md',
  aborted: 'no action is needed',
};

/**
 * A call that failed before its answer had passed all checks. The calls of a client reject only with this error, with
 * RangeError if an id or a count is invalid, or with the error of `confirm` (base/lease.ts) if the caller's lease
 * was not confirmed. Workflow histories and logs store errors as plain text, so this one holds no key, query value,
 * payload or text of the service. `fieldErrors` may quote data that was sent. It is a getter on a private field,
 * because neither inspect nor JSON nor pino prints such a getter; all three would print a plain property.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly kind: ApiErrorKind;
  /** The description of the failure, without the call and the request id: the same for all calls that fail alike. */
  readonly problem: string;
  /** The service's error code; null if the answer had none, or if there was no answer. */
  readonly code: number | null;
  /** HTTP status; null if no answer arrived. */
  readonly status: number | null;
  /** The X-Request-Id of the answer, which the service's support team asks for. */
  readonly requestId: string | null;
  readonly method: Call['method'];
  readonly path: string;
  /** From the Retry-After header, as a delay in milliseconds from now. */
  readonly retryAfterMs?: number;
  /** Time of the quota reset, in epoch milliseconds by the local clock. */
  readonly resetAtMs?: number;
  readonly quota: Quota | null;
  /**
   * False only if the service certainly did not carry out the call. If true, look up the effect of a POST before
   * repeating it.
   */
  readonly mayHaveTakenEffect: boolean;
  readonly #fieldErrors: readonly FieldError[] | undefined;
  readonly #serviceMessage: string | undefined;

  constructor(call: Call, facts: ApiErrorFacts) {
    super(messageOf(call, facts), facts.cause === undefined ? undefined : { cause: facts.cause });
    this.kind = facts.kind;
    this.problem = facts.problem;
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

  /** The rejected fields of a validation error (4500), as the service names them. For reports, not for logs. */
  get fieldErrors(): readonly FieldError[] | undefined {
    return this.#fieldErrors;
  }

  /** The service's own message, which may quote data that was sent. For reports, not for logs. */
  get serviceMessage(): string | undefined {
    return this.#serviceMessage;
  }
}

function messageOf(
  { method, path }: Call,
  { kind, problem, nextStep, code, status, requestId }: ApiErrorFacts,
): string {
  const identity = [
    code == null ? 'no code' : `code ${code}`,
    status == null ? 'no HTTP status' : `HTTP ${status}`,
    requestId == null ? 'no request id' : `request ${requestId}`,
  ];
  // Without an answer there is nothing to identify.
  const isAnswered = code != null || status != null || requestId != null;
  return `${method} ${path}: ${problem}${isAnswered ? ` (${identity.join(', ')})` : ''}; ${nextStep ?? nextSteps[kind]}.`;
}

/**
 * Every error code in the specification, and its kind. A missing pigeonhole and a missing session have kinds of their
 * own because each stops a stream. Source: docs/service-contract.md, "Errors".
 */
export const errorKinds: ReadonlyMap<number, ApiErrorKind> = new Map([
  [4500, 'invalid'], // invalid format or value
  [4501, 'credential'], // authentication failed
  [4502, 'notFound'],
  [4503, 'notFound'], // workspace
  [4504, 'pigeonholeNotFound'],
  [4505, 'notFound'], // subscription
  [4506, 'notFound'], // profile field
  [4507, 'registrantsOff'],
  [4508, 'profilesOff'],
  [4509, 'sessionNotFound'],
  [4510, 'notFound'], // registrant
  [4511, 'notFound'], // one-time token
  [4512, 'notFound'], // speaker
  [5000, 'transient'], // internal server error
  [6000, 'invalidParameter'],
  [7001, 'malformed'],
  [8000, 'quota'], // requests exceed the limit
  [9000, 'unsupported'],
]);

/**
 * Invalid client options. The message names the option but not its value, which may hold a key or a proxy's password.
 */
export class ClientOptionsError extends Error {
  override readonly name = 'ClientOptionsError';
  readonly option: string;

  /** @param problem what is wrong and what is allowed; continues a sentence that starts with the option's name */
  constructor(option: string, problem: string) {
    super(`${option} ${problem}.`);
    this.option = option;
  }
}
