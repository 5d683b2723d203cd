import {
  type AppliedObject,
  applyEvent,
  type EventTurn,
  lookAtEvent,
  type Outcome,
} from '../importing/provisioning/apply-event.js';
import { findDifferences, type Shown } from '../importing/provisioning/matching.js';
import type { Collaborators } from '../work/collaborators.js';
import type { CandidateView, EventObjectView, EventRequest, EventView } from '../api/provisioning.js';
import { type EventFile, readEventFile, workspaceOfEvent } from '../config/event-file.js';
import { findRef } from '../ledger/pigeonholes.js';
import { pollNow } from '../ledger/streams.js';
import type { Editions } from './editions.js';
import { discovering, reading, type WorkflowStarter } from './orchestration.js';

/**
 * A lost answer is looked up so much after its request, and nothing is sent again before: twice the client's deadline,
 * by which the request has ended here, and what it has made can be seen.
 */
const lookUpAfterMs = 60_000;
/** A turn ends soon, so that whoever waits for it sees what was done. */
const turnMs = 5000;

/** What exists of an event and what is to be created. @throws {ConfigError} when the file cannot be used */
export async function planProvisioning(editions: Editions, asked: EventRequest): Promise<EventView> {
  return await editions.use(async (to) => {
    const { event, options } = read(to, asked);
    return viewOf(options.workspace, event, await lookAtEvent(to, event, options));
  });
}

/** One turn of creating an event. @throws {ConfigError} when the file cannot be used */
export async function provisionEvent(
  editions: Editions,
  starter: Pick<WorkflowStarter, 'signal'>,
  asked: EventRequest,
): Promise<EventView> {
  return await editions.use(async (to) => {
    const { event, options } = read(to, asked);
    const { by = null, skip } = asked;
    const turn = await applyEvent(to, event, { ...options, by, skip, untilMs: performance.now() + turnMs });
    await readWhatIsNew(to, starter, options.workspace, turn);
    return viewOf(options.workspace, event, turn);
  });
}

function read({ config }: Collaborators, { file, text, use, create }: EventRequest) {
  const event = readEventFile(text, file);
  const workspace = workspaceOfEvent(event, file, Object.keys(config.workspaces));
  return { event, options: { workspace, decisions: { use, create }, lookUpAfterMs } };
}

/** What was created is read soon, where a sync reads it: nobody has to wait for the next sweep. */
async function readWhatIsNew(
  { ledger }: Collaborators,
  starter: Pick<WorkflowStarter, 'signal'>,
  workspace: string,
  { objects }: EventTurn,
): Promise<void> {
  const made = objects.filter(({ outcome }) => outcome.state === 'created');
  if (made.length === 0) return;
  const [pigeonhole] = objects;
  const id = idOf(pigeonhole!.outcome);
  const places = made.includes(pigeonhole!) || id === null ? [0] : [id];
  for (const pigeonholeId of places) {
    const ref = await findRef(ledger.db, workspace, pigeonholeId);
    if (ref === undefined) continue;
    await pollNow(ledger, ref);
    const { id: workflowId } = pigeonholeId === 0 ? discovering(workspace) : reading({ workspace, pigeonholeId });
    await starter.signal(workflowId, 'wake');
  }
}

function viewOf(workspace: string, event: EventFile, { plan, objects, hindrance, nextInMs }: EventTurn): EventView {
  const { id, name } = plan?.subscription ?? { id: null, name: null };
  return {
    workspace,
    event: event.id,
    timezone: event.pigeonhole.fields.timezone,
    subscription: id === null ? null : { id, name },
    objects: objects.map(objectView),
    problems: plan?.problems ?? [],
    warnings: [...event.warnings, ...(plan?.warnings ?? [])],
    hindrance: hindrance === null ? null : { kind: hindrance.kind, why: hindrance.why, detail: hindrance.detail },
    nextInMs,
  };
}

function objectView({ kind, object, outcome, shown }: AppliedObject): EventObjectView {
  const [one] = shown;
  const isThere = idOf(outcome) !== null && one !== undefined;
  return {
    key: object.key,
    kind,
    state: outcome.state,
    id: idOf(outcome),
    fields: object.fields,
    passcode: isThere && kind === 'pigeonhole' ? textOf(one['passcode']) : null,
    differences: isThere
      ? findDifferences(object.fields, one).map(({ field, inFile, atService }) =>
          object.told(field, `is ${JSON.stringify(inFile)} here and ${JSON.stringify(atService)} at the service`),
        )
      : [],
    candidates: outcome.state === 'undecided' ? shown.map(candidateView) : [],
    problems: outcome.state === 'refused' ? outcome.problems : [],
    requestId: outcome.state === 'refused' || outcome.state === 'created' ? outcome.requestId : null,
  };
}

/** Of what exists, at the service; null for all else, also for what is gone. */
function idOf(outcome: Outcome): number | null {
  return outcome.state === 'created' || outcome.state === 'exists' || outcome.state === 'claim' ? outcome.id : null;
}

function candidateView(shown: Shown): CandidateView {
  return {
    id: shown.id,
    name: textOf(shown['name']),
    startDate: textOf(shown['startDate']),
    endDate: textOf(shown['endDate']),
    status: textOf(shown['status']),
  };
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
