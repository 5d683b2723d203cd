import {
  type AppliedObject,
  applyEvent,
  type EventResult,
  lookAtEvent,
  type Outcome,
} from '../importing/provisioning/apply-event.js';
import { findDifferences, type Shown } from '../importing/provisioning/object-states.js';
import type { Collaborators } from '../cycles/collaborators.js';
import { type EventFile, readEventFile, workspaceOfEvent } from '../config/event-file.js';
import { findPigeonholeNumber } from '../ledger/pigeonholes.js';
import { pollNow } from '../ledger/streams-due.js';
import type { Editions } from './editions.js';
import { discovering, type WorkflowStarter } from './orchestration.js';
import { z } from '@hono/zod-openapi';
import { printable } from '../base/printable.js';

const key = printable(63);

/** An event file to compare or to create, with the operator's decisions about its objects. */
export const eventRequestSchema = z.strictObject({
  /** Name of the file in messages. The process does not read it. */
  file: printable(4096),
  /** Content of the file. */
  text: z.string().max(1_000_000),
  /** Objects that already exist: their IDs in the file, each with its ID in the service. */
  use: z.record(key, z.int().min(1)),
  /**
   * Objects to create although similar ones exist, or although they existed and were deleted; by their IDs in the file.
   */
  create: z.array(key).max(10_000),
  /** Objects that are not sent, because the service has refused them before; by their IDs in the file. */
  skip: z.array(key).max(10_000),
  by: printable(200).optional(),
});
export type EventRequest = z.infer<typeof eventRequestSchema>;

const eventObjectStateSchema = z
  .enum(['create', 'created', 'exists', 'claim', 'unknown', 'undecided', 'gone', 'held', 'refused', 'impossible'])
  .describe(
    '`create`: the object does not exist and will be created; `created`; `exists`; `claim`: it was found in the service and is used for the object of the file; `unknown`: the response was lost, so it is looked up before anything is sent again; `undecided`: similar objects exist, see `candidates`; `gone`: it existed and was deleted in the service; `held`: it waits for its pigeonhole; `refused` by the service; `impossible`: the choice made by `use` is not possible.',
  );

/** An existing object that is similar to an object of the file. */
const candidateViewSchema = z.object({
  id: z.int(),
  name: z.string().nullable(),
  startDate: z.string().nullable(),
  endDate: z.string().nullable(),
  status: z.string().nullable(),
  recordedFor: z
    .string()
    .nullable()
    .describe('The object of an event file for which pigeonpost created or adopted it, as EVENT/OBJECT; null: none.'),
});
export type CandidateView = z.infer<typeof candidateViewSchema>;

const eventObjectViewSchema = z.object({
  key: z.string().describe("`pigeonhole`, or the session's id in the file."),
  kind: z.enum(['pigeonhole', 'session']),
  state: eventObjectStateSchema,
  id: z.int().nullable().describe('ID in the service; null if it is not known.'),
  fields: z.record(z.string(), z.unknown()).readonly().describe('Fields that are sent or would be sent.'),
  passcode: z.string().nullable().describe('Passcode of an existing pigeonhole, which the audience needs to join.'),
  differences: z
    .array(z.string())
    .readonly()
    .describe(
      "Differences between the file and the service, as lines with their place. The service's API cannot change them.",
    ),
  candidates: z.array(candidateViewSchema).readonly(),
  problems: z
    .array(z.string())
    .readonly()
    .describe('For `refused`: messages of the service, as lines with their place.'),
  requestId: z
    .string()
    .nullable()
    .describe(
      'For `created` and `refused`: the request ID, which the operators of the service ask for; null: the service gave none.',
    ),
});
export type EventObjectView = z.infer<typeof eventObjectViewSchema>;

export const eventViewSchema = z
  .object({
    workspace: z.string(),
    event: z.string(),
    timezone: z.string().describe('IANA name of the time zone in which times are shown.'),
    subscription: z
      .object({ id: z.int(), name: z.string().nullable() })
      .nullable()
      .describe('Subscription under which the pigeonhole is created; null: none is needed.'),
    objects: z.array(eventObjectViewSchema).readonly().describe('Empty if `hindrance` prevented the comparison.'),
    problems: z
      .array(z.string())
      .readonly()
      .describe('Errors in the file that prevent creation: lines with their place.'),
    warnings: z
      .array(z.string())
      .readonly()
      .describe('Settings that are allowed but probably not intended, as lines with their place.'),
    hindrance: z
      .object({
        kind: z.enum(['wait', 'stop']).describe('`wait`: it ends without an action.'),
        why: z.enum(['quota', 'throttled', 'unreachable', 'stopping', 'credential', 'refused', 'paused']),
        detail: z.string(),
      })
      .nullable()
      .describe('The reason why nothing continues.'),
    nextInMs: z
      .number()
      .nullable()
      .describe('Milliseconds after which a repeated request makes progress; null: an action is needed first.'),
  })
  .openapi('Event');
export type EventView = z.infer<typeof eventViewSchema>;

/**
 * Time between a request whose response was lost and the look-up of its object. Nothing is sent again before that
 * look-up. It is twice the client's deadline, so the request has ended and its result is visible.
 */
const lookUpAfterMs = 60_000;
/** Maximum length of a cycle. It is short, so that the operator sees progress. */
const cycleMs = 5000;

/** Compares an event file with the service. @throws {ConfigError} when the file cannot be used */
export async function planProvisioning(editions: Editions, asked: EventRequest): Promise<EventView> {
  return await editions.use(async (deps) => {
    const { event, options } = read(deps, asked);
    return viewOf(options.workspace, event, await lookAtEvent(deps, event, options));
  });
}

/** Runs one cycle of creating an event. @throws {ConfigError} if the file cannot be used */
export async function provisionEvent(
  editions: Editions,
  starter: Pick<WorkflowStarter, 'wakeReaders' | 'wakeWorkflow'>,
  asked: EventRequest,
): Promise<EventView> {
  return await editions.use(async (deps) => {
    const { event, options } = read(deps, asked);
    const { by = null, skip } = asked;
    const result = await applyEvent(deps, event, { ...options, by, skip, untilMs: performance.now() + cycleMs });
    await readWhatIsNew(deps, starter, options.workspace, result);
    return viewOf(options.workspace, event, result);
  });
}

function read({ config }: Collaborators, { file, text, use, create }: EventRequest) {
  const event = readEventFile(text, file);
  const workspace = workspaceOfEvent(event, file, Object.keys(config.workspaces));
  return { event, options: { workspace, decisions: { use, create }, lookUpAfterMs } };
}

/** Makes created objects due for reading if a sync reads them, without waiting for the next sweep. */
async function readWhatIsNew(
  { ledger }: Collaborators,
  starter: Pick<WorkflowStarter, 'wakeReaders' | 'wakeWorkflow'>,
  workspace: string,
  { objects }: EventResult,
): Promise<void> {
  const made = objects.filter(({ outcome }) => outcome.state === 'created');
  if (made.length === 0) return;
  const [pigeonhole] = objects;
  const id = idOf(pigeonhole!.outcome);
  const places = made.includes(pigeonhole!) || id === null ? [0] : [id];
  for (const pigeonholeId of places) {
    const pigeonholeNumber = await findPigeonholeNumber(ledger.db, workspace, pigeonholeId);
    if (pigeonholeNumber === undefined) continue;
    await pollNow(ledger, pigeonholeNumber);
    if (pigeonholeId === 0) await starter.wakeWorkflow(discovering(workspace));
    else starter.wakeReaders();
  }
}

function viewOf(workspace: string, event: EventFile, { plan, objects, hindrance, nextInMs }: EventResult): EventView {
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

function objectView({ kind, object, outcome, shown, claimed }: AppliedObject): EventObjectView {
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
          object.problemLine(
            field,
            `is ${JSON.stringify(inFile)} here and ${JSON.stringify(atService)} in the service`,
          ),
        )
      : [],
    candidates: outcome.state === 'undecided' ? shown.map((each) => candidateView(each, claimed)) : [],
    problems: outcome.state === 'refused' ? outcome.problems : [],
    requestId: outcome.state === 'refused' || outcome.state === 'created' ? outcome.requestId : null,
  };
}

/** Returns the object's id in the service; null if it does not exist. */
function idOf(outcome: Outcome): number | null {
  return outcome.state === 'created' || outcome.state === 'exists' || outcome.state === 'claim' ? outcome.id : null;
}

function candidateView(shown: Shown, claimed: AppliedObject['claimed']): CandidateView {
  return {
    id: shown.id,
    name: textOf(shown['name']),
    startDate: textOf(shown['startDate']),
    endDate: textOf(shown['endDate']),
    status: textOf(shown['status']),
    recordedFor: claimed.get(shown.id) ?? null,
  };
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
