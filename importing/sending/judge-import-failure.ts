import type { ApiError } from '../../pigeonhole/api-error.js';
import { readComplaints } from './read-complaints.js';
import type { Answer } from './settle-answer.js';
import { fullJitter, judgeFailure } from '../../work/failures.js';
import { PermitRefusal } from '../../work/requests/permit-refusal.js';

/** The reaction of an import to a failed request. */
export type ImportVerdict =
  /** The answer concerns the rows. */
  | {
      readonly affects: 'rows';
      readonly answer: Answer;
      readonly indexBase: 0 | 1 | null;
      readonly retryInMs: number | null;
    }
  /** No request of the workspace would succeed. */
  | { readonly affects: 'workspace'; readonly reason: 'quota' | 'throttled' | 'credential'; readonly waitMs: number }
  /** The quota has no room for this request now: it was not made. */
  | { readonly affects: 'request'; readonly waitMs: number }
  /** An operator has to act before the import can continue. */
  | { readonly affects: 'import'; readonly cause: string; readonly detail: string };

const remedies: Readonly<Record<string, string>> = {
  registrantsOff:
    'registrants are switched off in this pigeonhole: enable registrant profiles in the dashboard, then resume',
  profilesOff: 'attendee profiles are switched off in this pigeonhole: enable them in the dashboard, then resume',
  pigeonholeNotFound: 'the service no longer has this pigeonhole: check it in the dashboard, then resume or cancel',
};

/**
 * Decides what a failed request of an import means; no other code does. If the workspace or the quota has to wait, the
 * request counts as neither made nor failed. If a request may have taken effect, its rows are sent again. Only an answer
 * of the service itself settles a row. Pure.
 * @param before.failures consecutive failures of this import
 * @param before.workspaceWaits consecutive waits of its workspace for the same reason
 * @param clock.now epoch ms; `random` 0 to 1, for full jitter
 */
export function judgeImportFailure(
  error: ApiError | PermitRefusal,
  sent: { readonly count: number; readonly indexBase: 0 | 1 | null },
  before: { readonly failures: number; readonly workspaceWaits: number },
  clock: { readonly now: number; readonly random: number },
): ImportVerdict {
  const general = judgeFailure(
    error,
    { streamFailures: before.failures, workspaceWaits: before.workspaceWaits, atCursor: false },
    clock,
  );
  if (general.affects === 'workspace' || general.affects === 'request') return general;
  if (error instanceof PermitRefusal) return { affects: 'request', waitMs: error.waitMs };
  const retryInMs = error.retryAfterMs ?? fullJitter(before.failures, clock.random);
  const rows = (answer: Answer, indexBase: 0 | 1 | null = null): ImportVerdict => ({
    affects: 'rows',
    answer,
    indexBase,
    retryInMs: answer.kind === 'unknown' || answer.kind === 'failed' ? retryInMs : null,
  });
  const { kind } = error;
  switch (kind) {
    case 'invalid': {
      if (error.status === 413) return rows({ kind: 'tooMany' });
      // An answer without the service's error code lost its body or came from a proxy, so it says nothing about the rows.
      if (error.code === null) return rows({ kind: 'unknown' });
      const complaints = readComplaints(
        error.fieldErrors ?? [],
        error.serviceMessage ?? null,
        sent.count,
        sent.indexBase,
      );
      return rows({ kind: 'refused', complaints }, complaints.indexBase);
    }
    case 'protocol': {
      // A success status with a list of errors: the service created some rows and names the others.
      const { fieldErrors = [] } = error;
      if (fieldErrors.length === 0) return rows({ kind: error.mayHaveTakenEffect ? 'unknown' : 'failed' });
      const complaints = readComplaints(fieldErrors, null, sent.count, sent.indexBase);
      return rows({ kind: 'refused', complaints }, complaints.indexBase);
    }
    case 'transient':
      return rows({ kind: error.mayHaveTakenEffect ? 'unknown' : 'failed' });
    case 'aborted':
      return { ...rows({ kind: error.mayHaveTakenEffect ? 'unheard' : 'failed' }), retryInMs: null } as ImportVerdict;
    default: // an operator reads this message; it contains the code, the status and the request ID
      return { affects: 'import', cause: kind, detail: remedies[kind] ?? error.message };
  }
}
