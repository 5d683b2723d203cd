import type { Collaborators } from '../cycles/collaborators.js';
import type { Action, ActionResult, SinkTest } from './action.js';
import { storedDetail } from '../ledger/kept-answer.js';
import { approveSink, isApproved } from '../ledger/approvals.js';
import { openErasures } from '../people/erasures.js';
import { runningImports } from '../importing/read-import.js';
import { endRehearsal, startRehearsal, selectedPigeonhole, pigeonholeNumberOf } from '../ledger/pigeonholes.js';
import { discovering, forgetting, importing, type WorkflowStarter } from './orchestration.js';
import type { Ledger } from '../ledger/ledger.js';
import { pausesOf, resume, pause, placeName, placeNamed } from '../ledger/pauses.js';
import { askNow } from '../requests/quota.js';
import { trySinkNow } from '../delivering/sink-breaker.js';
import { retryWorkspace, workspaceAnswers, forgetRefusedKey } from '../ledger/workspaces.js';
import { pollNow, pollWorkspaceNow, sweepNow, sweepWorkspaceNow } from '../ledger/streams-due.js';
import type { PigeonholeName } from '../cycles/cycle-results.js';

/** The process that carries out an action. */
interface ActingProcess {
  readonly deps: Pick<Collaborators, 'config' | 'ledger' | 'sinks' | 'log'>;
  readonly starter: WorkflowStarter;
}

/** Carries out an operator's action: writes it to the ledger, then wakes the work that it concerns. */
export async function act({ deps, starter }: ActingProcess, action: Action): Promise<ActionResult> {
  const target = await findTarget(deps, action);
  if (target === undefined) return 'unknown';
  const refusal = await carryOut(deps, target, action);
  if (refusal !== undefined && refusal !== nothingToDo) return { refused: refusal };
  const { do: verb, kind, name, list, forSeconds } = action;
  deps.log.info({ do: verb, kind, target: name, list, forSeconds }, 'operator action'); // without actor and reason, which may contain names
  const wakesAll = kind === 'workspace' && (verb === 'resume' || verb === 'try-now' || verb === 'sweep');
  if (wakesAll) await wakeWorkspace(deps, starter, name);
  else await wakeTarget(starter, target);
  if (kind === 'sink' && (verb === 'resume' || verb === 'try-now' || verb === 'approve'))
    await wakeErasures(deps, starter);
  if (refusal !== nothingToDo) return 'done';
  if (verb === 'poll-now') return { note: `no rehearsal of ${kind} ${name} was in progress` };
  const hint = kind === 'pigeonhole' ? '' : `. To end a wait, run "pigeonpost try-now ${kind}:${name}"`;
  return { note: `${kind} ${name} was not paused${hint}` };
}

/** Result of `resume` when there was no pause, and of `poll-now` when there was no rehearsal to end. */
const nothingToDo = Symbol('nothing to do');

/** @returns the reason why nothing was tried; undefined if it was tried */
async function tryItNow(
  { config, ledger }: ActingProcess['deps'],
  { kind, name }: Action,
): Promise<string | undefined> {
  if (kind === 'pigeonhole')
    return 'try-now ends the wait of a workspace, not of a pigeonhole: give workspace:NAME, or use poll-now';
  if (kind === 'sink') return await tryNow(ledger, { kind, name, key: null });
  const { apiKey } = config.workspaces[name]!;
  const key = ledger.hash.fingerprint(apiKey.reveal());
  return await tryNow(ledger, { kind, name, key });
}

/** @returns the reason for a refusal; undefined: it is done */
async function carryOut(
  deps: ActingProcess['deps'],
  scope: WorkScope,
  action: Action,
): Promise<string | typeof nothingToDo | undefined> {
  const { ledger, sinks } = deps;
  const { do: verb, by = null, reason = null } = action;
  if (verb === 'try-now') return await tryItNow(deps, action);
  if (verb !== 'approve') {
    return (await handleRequest(ledger, scope, { ...action, do: verb })) ? undefined : nothingToDo;
  }
  const sink = scope.kind === 'sink' ? sinks.get(scope.name) : undefined;
  if (sink === undefined) return 'only a sink can be approved: write sink approve NAME';
  if (!sink.observing) return `sink ${sink.name} has "mode: send", so it needs no approval`;
  await approveSink(ledger, { sinkId: sink.id, destination: sink.destination, by, reason });
  return undefined;
}

async function findTarget(
  { config, ledger }: ActingProcess['deps'],
  { kind, name }: Action,
): Promise<WorkScope | undefined> {
  switch (kind) {
    case 'workspace':
      return Object.hasOwn(config.workspaces, name) ? { kind, name } : undefined;
    case 'sink':
      return Object.hasOwn(config.sinks, name) ? { kind, name } : undefined;
    case 'pigeonhole': {
      const place = placeNamed(name);
      const isSelected =
        place !== undefined && (await selectedPigeonhole(ledger, Object.keys(config.syncs), place)) !== undefined;
      return isSelected ? { kind, name: place } : undefined;
    }
  }
}

/** Wakes the work of a workspace's own lists, of a sink, or of a pigeonhole. The reconciler starts missing workflows. */
async function wakeTarget(starter: WorkflowStarter, scope: WorkScope): Promise<void> {
  if (scope.kind === 'sink') await starter.wakeSinks([scope.name]);
  else starter.wakeReaders(); // of a paused workspace as well
  if (scope.kind === 'workspace') await starter.wakeWorkflow(discovering(scope.name));
}

/** Wakes everything that sends requests for a workspace: for its own lists, its pigeonholes and its running imports. */
export async function wakeWorkspace(
  { ledger }: Pick<Collaborators, 'ledger'>,
  starter: Pick<WorkflowStarter, 'wakeReaders' | 'wakeWorkflow'>,
  workspace: string,
): Promise<void> {
  starter.wakeReaders();
  const imports = (await runningImports(ledger)).filter((each) => each.workspace === workspace);
  const workflows = [discovering(workspace), ...imports.map(importing)];
  await Promise.all(workflows.map((workflow) => starter.wakeWorkflow(workflow)));
}

/** Wakes erasures that wait for a sink which an operator has resumed. */
async function wakeErasures({ ledger }: ActingProcess['deps'], starter: WorkflowStarter): Promise<void> {
  const open = await openErasures(ledger);
  await Promise.all(open.map((id) => starter.wakeWorkflow(forgetting(id))));
}

const testMs = 30_000;

/**
 * Sends one message, marked as a test, through a sink, if the sink supports tests and would send changes now. A second
 * call sends a second message. Nothing about it is stored.
 */
export async function testSink(
  { config, ledger, sinks, log }: Pick<Collaborators, 'config' | 'ledger' | 'sinks' | 'log'>,
  name: string,
): Promise<SinkTest | { readonly refused: string } | 'unknown'> {
  const open = sinks.get(name);
  if (open === undefined) return 'unknown';
  const { type } = config.sinks[name]!;
  if (open.sink.sendTest === undefined) {
    const refused = `a test through sink ${name} (${type}) would leave an invented record among those of real people, so nothing was sent: run "pigeonpost check" to test the connection, and "pigeonpost preview --sink ${name}" to see what the sink would send`;
    return { refused };
  }
  if ((await pausesOf(ledger, [{ scope: 'sink', name }])).length > 0) {
    return { refused: `sink ${name} is paused, so nothing was sent: run "pigeonpost resume sink:${name}" first` };
  }
  if (open.observing && !(await isApproved(ledger, open.id, open.destination))) {
    const refused = `sink ${name} only observes, so nothing was sent: run "pigeonpost sink approve ${name}" first`;
    return { refused };
  }
  const outcome = await open.sink.sendTest(AbortSignal.timeout(testMs));
  log.info({ sink: name, outcome: outcome.kind }, 'test message sent');
  const delivered = outcome.kind === 'delivered';
  const said = 'detail' in outcome ? outcome.detail : undefined;
  const answer = 'answer' in outcome ? outcome.answer : undefined;
  const detail = said === undefined ? null : storedDetail({ detail: said, ...(answer !== undefined && { answer }) });
  return { delivered, detail: detail ?? (delivered ? null : 'the sink could not send within its limits: try again') };
}

interface TryNowTarget {
  readonly kind: 'workspace' | 'sink';
  readonly name: string;
  /** Keyed fingerprint of the workspace's key; null for a sink. */
  readonly key: string | null;
}

/**
 * Ends every wait of a sink or a workspace before its next attempt: backoff, `Retry-After`, a used-up quota, a refused
 * credential. The service or the destination may request a wait again. The workspace's own lists are read immediately,
 * which also shows whether the quota has grown: then the gate plans again all lists that the quota has delayed.
 * @returns why nothing was tried, in a sentence: only `resume` lifts a pause that an operator has to decide about
 */
export async function tryNow(ledger: Ledger, { kind, name, key }: TryNowTarget): Promise<string | undefined> {
  const pauses = await pausesOf(ledger, [{ scope: kind, name }]);
  const decided = pauses.find(({ pausedBy, cause }) => pausedBy === 'person' || cause !== 'credential');
  if (decided !== undefined) {
    return `${kind} ${name} is paused, so nothing was tried; to continue, run "pigeonpost resume ${kind}:${name}"`;
  }
  if (pauses.length > 0) await resume(ledger, kind, name, 'cause');
  if (kind === 'sink') {
    await trySinkNow(ledger, name);
    return undefined;
  }
  await workspaceAnswers(ledger, name);
  if (key !== null) await askNow(ledger, key);
  await retryWorkspace(ledger, name);
  await pollNow(ledger, await pigeonholeNumberOf(ledger, name, 0));
  return undefined;
}

type WorkScope =
  | { readonly kind: 'workspace' | 'sink'; readonly name: string }
  | { readonly kind: 'pigeonhole'; readonly name: PigeonholeName };

/** An action that only writes to the ledger. */
type OperatorRequest = Pick<Action, 'list' | 'forSeconds' | 'by' | 'reason'> & {
  readonly do: 'pause' | 'resume' | 'poll-now' | 'sweep';
};

/**
 * Writes an operator's request to the ledger, where the next cycle of the work finds it. `resume` lifts an operator's
 * pause, and for a sink or a workspace also an automatic one, because it means that the operator has fixed the cause.
 * It also tries a refused key again immediately, for all lists of the workspace. `sweep` of a workspace includes its
 * pigeonholes.
 * @returns false for `resume` of something that was not paused, and for the end of a rehearsal that was not in progress
 */
export async function handleRequest(ledger: Ledger, scope: WorkScope, request: OperatorRequest): Promise<boolean> {
  const name = scope.kind === 'pigeonhole' ? placeName(scope.name) : scope.name;
  const { kind } = scope;
  switch (request.do) {
    case 'pause':
      await pause(ledger, {
        scope: kind,
        name,
        pausedBy: 'person',
        cause: 'asked',
        detail: request.reason ?? 'no reason given',
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
        const pigeonholeNumber = await pigeonholeNumberOf(ledger, scope.name.workspace, scope.name.pigeonholeId);
        const { forSeconds, by = null } = request;
        let hadEffect = true;
        if (forSeconds === 0) hadEffect = await endRehearsal(ledger, pigeonholeNumber);
        else if (forSeconds !== undefined) await startRehearsal(ledger, pigeonholeNumber, { forSeconds, by });
        await pollNow(ledger, pigeonholeNumber); // also applies the interval of a rehearsal, because each read decides when the next one is due
        return hadEffect;
      }
      if (scope.kind === 'workspace') {
        await pollNow(ledger, await pigeonholeNumberOf(ledger, scope.name, 0));
      }
      return true;
    case 'sweep':
      if (scope.kind === 'pigeonhole') {
        const pigeonholeNumber = await pigeonholeNumberOf(ledger, scope.name.workspace, scope.name.pigeonholeId);
        await sweepNow(ledger, pigeonholeNumber, request.list ?? null);
      } else if (scope.kind === 'workspace') {
        await sweepWorkspaceNow(ledger, scope.name, request.list ?? null);
      }
      return true;
  }
}
