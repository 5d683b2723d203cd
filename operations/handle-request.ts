import type { Ledger } from '../ledger/ledger.js';
import { trySinkNow } from '../delivering/sink-breaker.js';
import { pause, type PauseScope, pigeonholeName, resume } from '../ledger/pauses.js';
import { refOf } from '../ledger/pigeonholes.js';
import { pollNow, sweepNow } from '../ledger/streams.js';
import { endRehearsal, startRehearsal } from './rehearsal.js';
import { forgetRefusedKey, pollWorkspaceNow, sweepWorkspaceNow } from '../ledger/workspaces.js';
import type { PigeonholeName, WorkRequest } from '../work/cycle-results.js';

export type WorkScope =
  | { readonly kind: 'workspace' | 'sink'; readonly name: string }
  | { readonly kind: 'pigeonhole'; readonly name: PigeonholeName };

/** An operator's request, and who made it. */
export interface OperatorRequest {
  readonly do: WorkRequest;
  /** For `sweep`: sweeps only this list. */
  readonly list?: string | undefined;
  /** For `poll-now`: reads at the live interval for this long (a rehearsal); 0 ends the rehearsal. */
  readonly forSeconds?: number | undefined;
  readonly by?: string | undefined;
  readonly reason?: string | undefined;
}

/**
 * Writes an operator's request to the ledger, where the next cycle of the work finds it. `resume` lifts an operator's
 * pause, and for a sink or a workspace also an automatic one, because the operator says that the cause is fixed. It also
 * tries a refused key again immediately, for all lists of the workspace. `sweep` of a workspace includes its pigeonholes.
 * @returns false for `resume` of something that was not paused
 */
export async function handleRequest(ledger: Ledger, scope: WorkScope, request: OperatorRequest): Promise<boolean> {
  const name = scope.kind === 'pigeonhole' ? pigeonholeName(scope.name.workspace, scope.name.pigeonholeId) : scope.name;
  const kind: PauseScope = scope.kind;
  switch (request.do) {
    case 'pause':
      await pause(ledger, {
        scope: kind,
        name,
        pausedBy: 'person',
        cause: 'asked',
        detail: request.reason ?? 'paused by a person',
        fingerprint: null,
        actor: request.by ?? null,
      });
      return true;
    case 'resume': {
      let wasPaused = await resume(ledger, kind, name, 'person');
      if (scope.kind !== 'pigeonhole') wasPaused = (await resume(ledger, kind, name, 'cause')) || wasPaused;
      if (scope.kind === 'sink') await trySinkNow(ledger, scope.name);
      if (scope.kind === 'workspace') {
        await forgetRefusedKey(ledger, scope.name);
        await pollWorkspaceNow(ledger, scope.name);
      }
      return wasPaused;
    }
    case 'poll-now':
      if (scope.kind === 'pigeonhole') {
        const ref = await refOf(ledger, scope.name.workspace, scope.name.pigeonholeId);
        const { forSeconds, by = null } = request;
        if (forSeconds === 0) await endRehearsal(ledger, ref);
        else if (forSeconds !== undefined) await startRehearsal(ledger, ref, { forSeconds, by });
        await pollNow(ledger, ref); // each read also decides when the next one is due
      } else if (scope.kind === 'workspace') {
        await pollNow(ledger, await refOf(ledger, scope.name, 0));
      }
      return true;
    case 'sweep':
      if (scope.kind === 'pigeonhole') {
        await sweepNow(
          ledger,
          await refOf(ledger, scope.name.workspace, scope.name.pigeonholeId),
          request.list ?? null,
        );
      } else if (scope.kind === 'workspace') {
        await sweepWorkspaceNow(ledger, scope.name, request.list ?? null);
      }
      return true;
  }
}
