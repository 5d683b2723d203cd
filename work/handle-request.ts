import type { Ledger } from '../ledger/ledger.js';
import { trySinkNow } from '../delivering/sink-breaker.js';
import { pause, type PauseScope, pigeonholeName, resume } from '../ledger/pauses.js';
import { refOf } from '../ledger/pigeonholes.js';
import { pollNow, sweepNow } from '../ledger/streams.js';
import { endRehearsal, startRehearsal } from '../operations/rehearsal.js';
import { forgetRefusedKey, pollWorkspaceNow, sweepWorkspaceNow } from '../ledger/workspaces.js';
import type { PigeonholeName, WorkRequest } from './turns.js';

export type WorkScope =
  | { readonly kind: 'workspace' | 'sink' | 'import'; readonly name: string }
  | { readonly kind: 'pigeonhole'; readonly name: PigeonholeName };

/** What is asked, of which list, by whom and why. */
export interface PersonsRequest {
  readonly do: WorkRequest;
  /** Of a sweep: this list alone. */
  readonly list?: string | undefined;
  /** Of a poll: read at the live interval for this long; 0 ends that. */
  readonly forSeconds?: number | undefined;
  readonly by?: string | undefined;
  readonly reason?: string | undefined;
}

/**
 * Writes a person's request to the ledger; whoever runs the work sees it at its next turn. Resuming lifts what a
 * person paused, and for a sink or a workspace also what a cause did: the person says that it is mended. A refused key
 * is tried again at once, over all lists of its workspace. A sweep of a workspace is one of its pigeonholes too.
 * @returns false for something to be resumed that was not paused
 */
export async function handleRequest(ledger: Ledger, scope: WorkScope, request: PersonsRequest): Promise<boolean> {
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
