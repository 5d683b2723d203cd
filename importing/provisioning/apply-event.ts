import type { EventFile } from '../../config/event-file.js';
import { pausesOf } from '../../ledger/pauses.js';
import {
  renameEvent,
  settleCreation,
  createObject,
  type Creation,
  type Hindrance,
  judgeRequestFailure,
} from './create-object.js';
import { ApiError } from '../../pigeonhole/api-error.js';
import type { Collaborators } from '../../cycles/collaborators.js';
import { PermitRefusal } from '../../requests/quota-rules.js';
import { requireCurrentConfiguration } from '../../ledger/configurations.js';
import type { CreatedEntity, PigeonholeClient } from '../../pigeonhole/client.js';
import { isTwin, type ObjectState, looksOf, type Shown } from './object-states.js';
import { type EventPlan, planEvent, type PlannedObject, type PlanOptions } from './plan-event.js';

interface ApplyOptions extends PlanOptions {
  /** Name of the operator who requested it, for the ledger. */
  readonly by: string | null;
  /** Objects that are not sent, because the service has refused them before; by their names in the file. */
  readonly skip: readonly string[];
  /** No request starts after this time, by `performance.now()`; the next cycle does the rest. */
  readonly untilMs: number;
}

/** The state of an object after a cycle. */
export type Outcome =
  | ObjectState
  | { readonly state: 'created'; readonly id: number; readonly shown: Shown; readonly requestId: string | null }
  | { readonly state: 'refused'; readonly problems: readonly string[]; readonly requestId: string | null };

export interface AppliedObject extends PlannedObject {
  readonly outcome: Outcome;
}

/** The result of a cycle. */
export interface EventResult {
  /** Null if planning failed: `hindrance` says why. */
  readonly plan: EventPlan | null;
  readonly objects: readonly AppliedObject[];
  readonly hindrance: Hindrance | null;
  /** Milliseconds until another cycle can make progress; null: nothing is left to do, or an operator has to act. */
  readonly nextInMs: number | null;
}

/** Pause before the next look-up if another process creates the object. */
const overtakenMs = 1000;

/** Returns what exists and what would be created. Changes nothing. */
export async function lookAtEvent(deps: Collaborators, event: EventFile, options: PlanOptions): Promise<EventResult> {
  const plan = await planOrHindrance(deps, event, options);
  if ('kind' in plan) return hinderedResult(plan);
  return { plan, objects: asPlanned(plan), hindrance: null, nextInMs: null };
}

/**
 * Runs one cycle of creating an event: sends missing objects one after another, the pigeonhole first. Safe to run
 * twice, also concurrently, and after a crash. If an object cannot be created, the others continue; only sessions wait
 * for their pigeonhole.
 */
export async function applyEvent(deps: Collaborators, event: EventFile, options: ApplyOptions): Promise<EventResult> {
  const plan = await planOrHindrance(deps, event, options);
  if ('kind' in plan) return hinderedResult(plan);
  if (plan.problems.length > 0) return { plan, objects: asPlanned(plan), hindrance: null, nextInMs: null };
  const { workspace } = options;
  if (plan.recordedAs !== event.id) await renameEvent(deps.ledger, workspace, plan.recordedAs, event.id);
  const cycle = new ApplyCycle(deps, event, options, plan);
  await cycle.claim(plan.pigeonhole, 0);
  const { objectState } = plan.pigeonhole;
  if (objectState.state === 'create') {
    const { subscriptionField = 'subscriptionId' } = deps.config.workspaces[workspace]!;
    const { id } = plan.subscription;
    const body = { ...plan.pigeonhole.object.fields, ...(id === null ? {} : { [subscriptionField]: id }) };
    await cycle.create(plan.pigeonhole, 0, (client) => client.createPigeonhole(body, { signal: deps.stopping }));
    return cycle.end();
  }
  if (objectState.state !== 'exists' && objectState.state !== 'claim') return cycle.end();
  for (const session of plan.sessions) await cycle.claim(session, objectState.id);
  for (const session of plan.sessions) {
    if (session.objectState.state !== 'create') continue;
    if (!cycle.shouldContinue) break;
    const { fields } = session.object;
    await cycle.create(session, objectState.id, (client) =>
      client.createSession(objectState.id, fields, { signal: deps.stopping }),
    );
  }
  return cycle.end();
}

/** A cycle in progress, with the outcome of each object. */
class ApplyCycle {
  readonly #outcomes = new Map<string, Outcome>();
  #hindrance: Hindrance | null = null;
  #attempted = 0;

  constructor(
    private readonly deps: Collaborators,
    private readonly event: EventFile,
    private readonly options: ApplyOptions,
    private readonly plan: EventPlan,
  ) {}

  /** True at least once per cycle, so that every cycle makes progress. */
  get shouldContinue(): boolean {
    const { untilMs } = this.options;
    return (
      this.#hindrance === null && !this.deps.stopping.aborted && (this.#attempted === 0 || performance.now() < untilMs)
    );
  }

  /** Records an object that was found to exist. */
  async claim({ object, objectState, known }: PlannedObject, parentId: number): Promise<void> {
    if (objectState.state !== 'claim') return;
    const settled = await settleCreation(this.deps.ledger, this.#nameOf(object.key), {
      parentId,
      remoteId: objectState.id,
      attempt: known?.attempt ?? 0,
      by: this.options.by,
      insteadOf: objectState.insteadOf,
    });
    this.#outcomes.set(object.key, settled ? objectState : { state: 'unknown', lookUpInMs: overtakenMs });
  }

  async create(
    planned: PlannedObject,
    parentId: number,
    send: (client: PigeonholeClient) => Promise<CreatedEntity<{ readonly id: number }>>,
  ): Promise<void> {
    const { object, objectState, kind, known } = planned;
    const { lookUpAfterMs } = this.options;
    if (objectState.state !== 'create' || this.options.skip.includes(object.key)) return;
    const looks = looksOf(kind, object.fields);
    const twin = this.plan.sessions.find(
      (other) =>
        this.#outcomes.get(other.object.key)?.state === 'unknown' &&
        isTwin({ looks: looksOf(kind, other.object.fields) }, { looks }),
    );
    // It is not known whether the identical session exists. If both were sent, no look-up could tell them apart.
    if (twin !== undefined) {
      this.#outcomes.set(object.key, { state: 'unknown', lookUpInMs: lookUpAfterMs });
      return;
    }
    this.#attempted += 1;
    const intent = {
      parentId,
      attempt: known?.attempt ?? 0,
      sent: looks,
      knownBefore: objectState.knownBefore,
      by: this.options.by,
    };
    const creation = await createObject(this.deps, this.#nameOf(object.key), intent, async (client) => {
      const { entity, requestId } = await send(client);
      return { shown: { ...entity }, requestId };
    });
    if (creation.kind === 'hindered') this.#hindrance = creation.hindrance;
    else this.#outcomes.set(object.key, outcomeOf(planned, creation, lookUpAfterMs));
  }

  end(): EventResult {
    const { pigeonhole, sessions } = this.plan;
    const parent = this.#outcomes.get('pigeonhole')?.state;
    const isHeld = parent === 'unknown' || parent === 'refused';
    const objects = [pigeonhole, ...sessions].map((planned): AppliedObject => {
      const objectState: ObjectState = isHeld && planned.kind === 'session' ? { state: 'held' } : planned.objectState;
      const outcome = this.#outcomes.get(planned.object.key) ?? objectState;
      return { ...planned, outcome, shown: outcome.state === 'created' ? [outcome.shown] : planned.shown };
    });
    return { plan: this.plan, objects, hindrance: this.#hindrance, nextInMs: this.#nextInMs(objects) };
  }

  #nextInMs(objects: readonly AppliedObject[]): number | null {
    if (this.#hindrance !== null) return this.#hindrance.kind === 'wait' ? this.#hindrance.waitMs : null;
    const { skip } = this.options;
    const isLeft = ({ object, outcome }: AppliedObject): boolean =>
      outcome.state === 'create' && !skip.includes(object.key);
    const [pigeonhole, ...sessions] = objects;
    const isPossible = pigeonhole!.outcome.state !== 'refused' && !skip.includes('pigeonhole');
    if (isPossible && (isLeft(pigeonhole!) || sessions.some(isLeft))) return 0;
    const waits = objects.flatMap(({ outcome }) => (outcome.state === 'unknown' ? [outcome.lookUpInMs] : []));
    return waits.length === 0 ? null : Math.min(...waits);
  }

  #nameOf(key: string) {
    return { workspace: this.options.workspace, event: this.event.id, object: key };
  }
}

function outcomeOf(
  { object, kind }: PlannedObject,
  creation: Exclude<Creation, { kind: 'hindered' }>,
  lookUpAfterMs: number,
): Outcome {
  switch (creation.kind) {
    case 'created':
      return { state: 'created', id: creation.id, shown: creation.shown, requestId: creation.requestId };
    case 'unknown':
      return { state: 'unknown', lookUpInMs: lookUpAfterMs };
    case 'overtaken':
      return { state: 'unknown', lookUpInMs: overtakenMs };
    case 'refused': {
      const { error } = creation;
      const fields = (error.fieldErrors ?? []).map(({ field, message }) =>
        object.problemLine(fieldNamed(field), message),
      );
      const problems =
        fields.length > 0 ? fields : [object.problemLine(kind === 'session' ? 'id' : 'name', error.message)];
      return { state: 'refused', problems, requestId: error.requestId };
    }
  }
}

/** The service may say `startDate`, `data.startDate` or `session[startDate]`: the last part is the field. */
function fieldNamed(field: string): string {
  return /([^.[\]]+)\]?$/.exec(field)?.[1] ?? field;
}

function asPlanned({ pigeonhole, sessions }: EventPlan): AppliedObject[] {
  return [pigeonhole, ...sessions].map((planned) => ({ ...planned, outcome: planned.objectState }));
}

function hinderedResult(hindrance: Hindrance): EventResult {
  return { plan: null, objects: [], hindrance, nextInMs: hindrance.kind === 'wait' ? hindrance.waitMs : null };
}

async function planOrHindrance(
  deps: Collaborators,
  event: EventFile,
  options: PlanOptions,
): Promise<EventPlan | Hindrance> {
  await requireCurrentConfiguration(deps);
  const pauses = await pausesOf(deps.ledger, [{ scope: 'workspace', name: options.workspace }]);
  const pause = pauses.find(({ pausedBy }) => pausedBy === 'person');
  if (pause !== undefined) {
    const detail = `workspace ${options.workspace} is paused (${pause.detail}): to continue, run "pigeonpost resume workspace:${options.workspace}"`;
    return { kind: 'stop', why: 'paused', detail };
  }
  try {
    return await planEvent(deps, event, options);
  } catch (error) {
    if (error instanceof ApiError || error instanceof PermitRefusal)
      return judgeRequestFailure(error, deps.ledger.clock.nowMs());
    throw error;
  }
}
