import { dropIntent, intendCreation, type ProvisionedName, settleCreation } from './provisioned-objects.js';
import { ApiError } from '../../pigeonhole/api-error.js';
import type { PigeonholeClient } from '../../pigeonhole/client.js';
import type { Collaborators } from '../../work/collaborators.js';
import { confirmAfterMs } from '../../base/lease-watch.js';
import { whileHeld } from '../../base/while-held.js';
import { PermitRefusal } from '../../work/requests/permit-refusal.js';
import { Stopwatch } from '../../base/stopwatch.js';
import { type Looks, type Shown, priority } from './matching.js';

/**
 * The outcome of a creation.
 * - `created` the service returned its id, and the ledger has recorded it
 * - `unknown` it may or may not exist: look it up before it is sent again
 * - `refused` the service refused it as invalid and did not create it
 * - `hindered` nothing was created, and no other object of the event can be created now
 * - `overtaken` another process is creating it, or may be: nothing was sent
 */
export type Creation =
  | { readonly kind: 'created'; readonly id: number; readonly shown: Shown; readonly requestId: string | null }
  | { readonly kind: 'unknown'; readonly requestId: string | null }
  | { readonly kind: 'refused'; readonly error: ApiError }
  | { readonly kind: 'hindered'; readonly hindrance: Hindrance }
  | { readonly kind: 'overtaken' };

interface Wanted {
  /** ID of the pigeonhole that will contain the session; 0: the object is a pigeonhole. */
  readonly parentId: number;
  /** Number of the latest attempt in the ledger when this was decided; 0: there was none. */
  readonly attempt: number;
  readonly looks: Looks;
  readonly knownBefore: readonly number[];
  readonly by: string | null;
}

type Dependencies = Pick<Collaborators, 'clients' | 'config' | 'gate' | 'ledger' | 'log' | 'clocks'>;

/**
 * Creates one object, once. The intent is committed after the permit is granted, right before the request, and only the
 * process that commits it sends. After a crash, the intent remains, and the next cycle looks the object up before it
 * sends anything again.
 */
export async function createObject(
  deps: Dependencies,
  name: ProvisionedName,
  wanted: Wanted,
  send: (client: PigeonholeClient) => Promise<{ readonly shown: Shown; readonly requestId: string | null }>,
): Promise<Creation> {
  const { parentId, looks, knownBefore, by } = wanted;
  const { workspace, event, object } = name;
  let attempt: number | undefined;
  try {
    const answer = await deps.gate.request(deps, { workspace, priority }, async (client) => {
      const intended = new Stopwatch(deps.clocks);
      attempt = await intendCreation(deps.ledger, name, {
        parentId,
        attempt: wanted.attempt,
        sent: looks,
        knownBefore,
        by,
      });
      if (attempt === undefined) return undefined;
      const confirm = (): Promise<void> | undefined =>
        intended.elapsedMs() < confirmAfterMs ? undefined : Promise.reject(new IntentTooOld());
      return await whileHeld(confirm, () => send(client));
    });
    if (attempt === undefined || answer === undefined) return { kind: 'overtaken' };
    const { shown, requestId } = answer;
    const settled = await settleCreation(deps.ledger, name, { parentId, remoteId: shown.id, attempt, by });
    deps.log.info({ workspace, event, object, id: shown.id, settled, requestId }, 'created at the service');
    // another process considered the intent lost meanwhile; its look-up will find the object
    return settled ? { kind: 'created', id: shown.id, shown, requestId } : { kind: 'unknown', requestId };
  } catch (error) {
    if (error instanceof IntentTooOld && attempt !== undefined) {
      await dropIntent(deps.ledger, name, attempt);
      return { kind: 'overtaken' };
    }
    if (!(error instanceof ApiError) && !(error instanceof PermitRefusal)) throw error;
    if (attempt === undefined || error instanceof PermitRefusal) {
      return { kind: 'hindered', hindrance: judgeRequestFailure(error, deps.ledger.clock.nowMs()) };
    }
    const { kind, code, status, requestId } = error;
    deps.log.warn({ workspace, event, object, kind, code, status, requestId }, 'could not be created');
    if (error.mayHaveTakenEffect) return { kind: 'unknown', requestId };
    await dropIntent(deps.ledger, name, attempt);
    const hindrance = judgeRequestFailure(error, deps.ledger.clock.nowMs());
    return hindrance.kind === 'stop' && hindrance.why === 'refused'
      ? { kind: 'refused', error }
      : { kind: 'hindered', hindrance };
  }
}

/**
 * The request was not sent, because it waited for a connection or the machine was suspended: another process may have
 * considered the intent lost, looked it up and sent it.
 */
class IntentTooOld extends Error {
  override readonly name = 'IntentTooOld';

  constructor() {
    super('the intent to create an object is too old to send it');
  }
}

/** The reason why no object of the event can be created now. */
export type Hindrance =
  /** It is temporary: retry after `waitMs`. */
  | {
      readonly kind: 'wait';
      readonly why: 'quota' | 'throttled' | 'unreachable' | 'stopping';
      readonly waitMs: number;
      readonly detail: string;
    }
  /** An operator has to act first. */
  | { readonly kind: 'stop'; readonly why: 'credential' | 'refused' | 'paused'; readonly detail: string };

/** Classifies a failed request. Pure. @param now epoch ms */
export function judgeRequestFailure(error: ApiError | PermitRefusal, now: number): Hindrance {
  const detail = error.message;
  if (error instanceof PermitRefusal) return { kind: 'wait', why: 'quota', waitMs: error.waitMs, detail };
  const requestedMs =
    error.retryAfterMs ?? (error.resetAtMs === undefined ? undefined : Math.max(1000, error.resetAtMs - now));
  switch (error.kind) {
    case 'quota':
      return { kind: 'wait', why: 'quota', waitMs: requestedMs ?? 60_000, detail };
    case 'throttled':
      return { kind: 'wait', why: 'throttled', waitMs: error.retryAfterMs ?? 2000, detail };
    case 'transient':
      return { kind: 'wait', why: 'unreachable', waitMs: error.retryAfterMs ?? 2000, detail };
    case 'aborted':
      return { kind: 'wait', why: 'stopping', waitMs: 1000, detail };
    case 'credential':
      return { kind: 'stop', why: 'credential', detail };
    default:
      return { kind: 'stop', why: 'refused', detail };
  }
}
