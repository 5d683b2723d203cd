import { canvasCauses, canvasReasons } from './canvas/reasons.js';
import { dynamicsCauses, dynamicsReasons } from './dynamics/reasons.js';
import { fileCauses, fileReasons } from './file/reasons.js';
import { httpCauses, httpReasons } from './http/reasons.js';
import { hubspotCauses, hubspotReasons } from './hubspot/reasons.js';
import { postgresCauses, postgresReasons } from './postgres/reasons.js';
import {
  type Cause,
  type Causes,
  declaredCause,
  engineCauses,
  engineReasons,
  type Reason,
  type ReasonKind,
  type Reasons,
  whileIdentityHidden,
} from './reasons.js';
import { s3Causes, s3Reasons } from './s3/reasons.js';
import { salesforceCauses, salesforceReasons } from './salesforce/reasons.js';
import { slackCauses, slackReasons } from './slack/reasons.js';
import { webhookCauses, webhookReasons } from './webhook/reasons.js';
import { xapiCauses, xapiReasons } from './xapi/reasons.js';

const declared = {
  canvas: { reasons: canvasReasons, causes: canvasCauses },
  dynamics: { reasons: dynamicsReasons, causes: dynamicsCauses },
  file: { reasons: fileReasons, causes: fileCauses },
  http: { reasons: httpReasons, causes: httpCauses },
  hubspot: { reasons: hubspotReasons, causes: hubspotCauses },
  postgres: { reasons: postgresReasons, causes: postgresCauses },
  s3: { reasons: s3Reasons, causes: s3Causes },
  salesforce: { reasons: salesforceReasons, causes: salesforceCauses },
  slack: { reasons: slackReasons, causes: slackCauses },
  webhook: { reasons: webhookReasons, causes: webhookCauses },
  xapi: { reasons: xapiReasons, causes: xapiCauses },
} satisfies Readonly<Record<string, { readonly reasons: Reasons; readonly causes: Causes }>>;

/** The name of a sink type, as `type` selects it in pigeonpost.yaml. `all-sinks.ts` has a type for each. */
export type SinkTypeName = keyof typeof declared;

/** The declarations of each sink type. */
export const declaredByType: Readonly<Record<string, { readonly reasons: Reasons; readonly causes: Causes }>> =
  declared;

/** The reasons of the engine and of all sinks, by code. A code means the same in every sink, except for `readBy`. */
const allReasons: ReadonlyMap<string, Reason> = new Map(
  [...Object.values(declaredByType).map(({ reasons }) => reasons), engineReasons].flatMap((reasons: Reasons) =>
    Object.entries(reasons),
  ),
);
const allCauses: Causes = Object.assign(
  {},
  ...Object.values(declaredByType).map(({ causes }) => causes),
  engineCauses,
) as Causes;

/** Returns the declaration of a reason; undefined if nothing declares it. */
export function reasonOf(code: string): Reason | undefined {
  return allReasons.get(code);
}

/** Returns the declaration of a cause; undefined if nothing declares it. */
export function causeOf(code: string): Cause | undefined {
  return declaredCause(allCauses, code);
}

function codesOf(...kinds: readonly ReasonKind[]): string[] {
  return [...allReasons].flatMap(([code, { kind }]) => (kinds.includes(kind) ? [code] : []));
}

/** The reasons for which `isLacking` is true. */
export const lackingReasons: readonly string[] = codesOf('missing-value');

/**
 * Returns true if the mapping produced nothing because a value was missing although the identity was visible. A missing
 * value of a person whose identity is hidden is no fault of the mapping.
 */
export function isLacking(code: string): boolean {
  return allReasons.get(code)?.kind === 'missing-value';
}

/** Reasons that depend on a sink's mapping, so that another mapping may decide otherwise. */
export const mappingReasons: readonly string[] = codesOf('missing-value', 'excluded');

/**
 * Reasons whose changes are decided again when the settings of a sink change. A mapping may need the person of an item
 * that has none, which is intended, and another mapping may not need the person.
 */
export const curableReasons: readonly string[] = [
  ...mappingReasons,
  ...codesOf('hidden'),
  ...lackingReasons.map(whileIdentityHidden),
];

/** The causes of dead letters that only an operator sends again, because the destination may have them. */
export const causesOfUnknownOutcome: readonly string[] = Object.entries(allCauses).flatMap(([code, cause]) =>
  cause.outcomeUnknown === true ? [code] : [],
);
