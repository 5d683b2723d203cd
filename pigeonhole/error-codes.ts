import type { ApiErrorKind } from './api-error.js';

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
export type ErrorCode = (typeof errorCodes)[ErrorCodeName];

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
