import { codeOf } from '../../base/errors.js';
import { InvalidArgumentError } from 'commander';
import {
  type CliCommand,
  exampleText,
  collect,
  type Context,
  confirm,
  type JsonOption,
  operatorName,
} from '../command.js';
import { readFile } from 'node:fs/promises';
import type { EventRequest, EventView, EventObjectView } from '../../operations/provision-event.js';
import { type ApiClient, clientOf } from '../api-client.js';
import { type Output, printResult } from '../output.js';
import { ExitCode, wrongUse } from '../exit-code.js';
import { formatEvent, questionOf } from './format-event.js';
import { setTimeout as sleep } from 'node:timers/promises';
import { formatSpan } from '../../base/words.js';

export function addApply(program: CliCommand): void {
  program
    .command('apply <file>')
    .description('Create the pigeonhole and sessions of an event file, each once, after showing the plan')
    .option('--dry-run', 'show the plan without creating anything', false)
    .option('--yes', 'skip the confirmation', false)
    .option('--use <key=id>', 'existing pigeonhole or session to use for this key of the file', toUse)
    .option('--new <key>', 'key to create even if a similar object exists or the object was deleted', collect)
    .json()
    .addHelpText(
      'after',
      `${exampleText('apply event.yaml --dry-run')}\n\ndocs/provisioning.md has a complete event file.`,
    )
    .runs((context, file: string, options: Omit<ApplyOptions, 'file'>) => apply(context, { file, ...options }));
}

function toUse(text: string, before: Readonly<Record<string, number>> = {}): Record<string, number> {
  const [, key, id] = /^([^=]{1,63})=(\d{1,15})$/.exec(text) ?? [];
  if (key === undefined || Number(id) < 1)
    throw new InvalidArgumentError('give the key in the file and the ID in the service, such as opening=5001');
  return { ...before, [key]: Number(id) };
}

export interface ApplyOptions extends JsonOption {
  /** Path of the event file, as the user wrote it. */
  readonly file: string;
  readonly dryRun: boolean;
  readonly yes: boolean;
  readonly use?: Readonly<Record<string, number>>;
  readonly new?: readonly string[];
}

const largestFileBytes = 1_000_000;

/**
 * `pigeonpost apply <file>`: creates the missing objects of an event, after it has shown the plan and asked for
 * confirmation. Exit 0 when every object exists (with `--dry-run`: when nothing prevents that), 1 when the operator
 * must decide or do something first, 2 for an unusable file, 3 when the service cannot be reached, 5 when it refuses an
 * object.
 */
async function apply(context: Context, options: ApplyOptions): Promise<ExitCode> {
  const text = await readEvent(options.file);
  return await applyText(await clientOf(context), text, options, context);
}

/** Applies the text of an event file. @param wait for tests */
export async function applyText(
  client: Pick<ApiClient, 'post'>,
  text: string,
  { file, dryRun, yes, json, use = {}, new: create = [] }: ApplyOptions,
  { out, wait }: { readonly out: Output; readonly wait?: Wait },
): Promise<ExitCode> {
  const asked: EventRequest = { file, text, use, create: [...create], skip: [], by: operatorName() };
  const plan = await untilAnswered(() => client.post('/api/events/plan', { json: asked }), out, wait);
  const isLeft = plan.objects.some(({ state }) => ['create', 'unknown', 'claim'].includes(state));
  const ends = dryRun || plan.problems.length > 0 || plan.hindrance !== null || !isLeft;
  if (json && ends) out.line(JSON.stringify(plan));
  if (!json) for (const line of formatEvent(plan, 'plan')) out.line(line);
  tellHindrance(plan, out);
  if (ends) return exitCodeOf(plan, 'plan');
  if (!yes) {
    if (json) for (const line of formatEvent(plan, 'plan')) out.note(line); // other programs read standard output
    if (!(await confirm(out, questionOf(plan), 'nothing was created'))) return ExitCode.Failed;
  }
  const end = await followEvent(
    (skip) => client.post('/api/events/apply', { json: { ...asked, skip: [...skip] } }),
    out,
    wait,
  );
  printResult(out, json, end, formatEvent(end, 'end'));
  tellHindrance(end, out);
  return exitCodeOf(end, 'end');
}

function tellHindrance({ hindrance }: EventView, out: Output): void {
  if (hindrance !== null) out.note(`pigeonpost: ${hindrance.detail}`);
}

function exitCodeOf({ problems, hindrance, objects }: EventView, at: 'plan' | 'end'): ExitCode {
  if (hindrance?.why === 'unreachable') return ExitCode.Unreachable;
  if (hindrance !== null) return ExitCode.Failed;
  if (problems.length > 0) return ExitCode.WrongUse;
  const states = new Set(objects.map(({ state }) => state));
  if (states.has('refused')) return ExitCode.DoneWithRejects;
  if (states.has('undecided') || states.has('gone')) return ExitCode.Failed;
  return at === 'end' && (states.has('create') || states.has('unknown') || states.has('held'))
    ? ExitCode.Failed
    : ExitCode.Done;
}

async function readEvent(file: string): Promise<string> {
  let bytes: Buffer;
  try {
    bytes = await readFile(file);
  } catch (cause) {
    const code = codeOf(cause);
    const why =
      code === 'ENOENT'
        ? 'the file does not exist; docs/provisioning.md has an example'
        : `the file cannot be read (${code})`;
    throw wrongUse(`${file}: ${why}`, { cause });
  }
  if (bytes.length > largestFileBytes) {
    throw wrongUse(`${file}: the file has ${bytes.length} bytes; an event file may have at most ${largestFileBytes}`);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw wrongUse(`${file}: the file is not UTF-8 text; save it as UTF-8`, { cause });
  }
}

type Wait = (ms: number) => Promise<unknown>;

/** The command gives up after this number of consecutive failures to reach the service. */
const maxFailures = 5;
/**
 * Maximum wait before the next request. The command does not wait longer, because more quota may become available
 * earlier.
 */
const maxWaitMs = 60_000;

const comeBack = 'Ctrl-C is safe: run the same command again to continue';

/**
 * Repeats a request until no temporary obstacle is left, or the service could not be reached for too long.
 * @param onView receives every answer, even if the request is repeated, because objects may have been created before
 * the obstacle
 */
export async function untilAnswered(
  ask: () => Promise<EventView>,
  out: Pick<Output, 'note'>,
  wait: Wait = sleep,
  onView: (view: EventView) => void = () => undefined,
): Promise<EventView> {
  let told: string | null = null;
  for (let failures = 0; ;) {
    const view = await ask();
    onView(view);
    const { hindrance, nextInMs } = view;
    if (hindrance?.kind !== 'wait' || nextInMs === null) return view;
    failures = hindrance.why === 'unreachable' ? failures + 1 : 0;
    if (failures >= maxFailures) return { ...view, nextInMs: null };
    if (told !== hindrance.why) out.note(`${waitWords(hindrance.why, nextInMs)} (${comeBack})`);
    told = hindrance.why;
    await wait(Math.min(nextInMs, maxWaitMs));
  }
}

function waitWords(why: string, waitMs: number): string {
  const span = formatSpan(Math.ceil(waitMs / 1000));
  switch (why) {
    case 'quota':
      return `the request quota is used up: the command continues in ${span}`;
    case 'unreachable':
      return 'the service cannot be reached: retrying';
    case 'throttled':
      return `the service requested a wait: the command continues in ${span}`;
    default:
      return 'the running pigeonpost is stopping: retrying';
  }
}

/**
 * Runs cycles until nothing more can be done automatically, and prints what is created.
 * @param runCycle receives the keys of the objects that the service has refused
 * @returns the final view; `created` and `refused` include every cycle
 */
export async function followEvent(
  runCycle: (skip: readonly string[]) => Promise<EventView>,
  out: Pick<Output, 'note'>,
  wait: Wait = sleep,
): Promise<EventView> {
  const progress = new EventProgress(out);
  for (;;) {
    const view = await untilAnswered(
      () => runCycle(progress.refused),
      out,
      wait,
      (each) => progress.note(each),
    );
    if (view.nextInMs === null) return { ...view, objects: progress.objects };
    if (view.nextInMs > 0) await wait(view.nextInMs);
  }
}

/** Collects the results of the cycles of one command. */
class EventProgress {
  readonly #settled = new Map<string, EventObjectView>();
  readonly #lost = new Set<string>();
  #last: readonly EventObjectView[] = [];

  constructor(private readonly out: Pick<Output, 'note'>) {}

  get refused(): string[] {
    return [...this.#settled.values()].filter(({ state }) => state === 'refused').map(({ key }) => key);
  }

  /**
   * Returns the objects with their results. A cycle sees that an object exists, but not that an earlier cycle created
   * it.
   */
  get objects(): EventObjectView[] {
    return this.#last.map((object) => {
      const end = this.#settled.get(object.key);
      const isMade = end?.state === 'created' && (object.state === 'exists' || object.state === 'claim');
      if (isMade) return { ...object, state: 'created' };
      return end?.state === 'refused' && object.state === 'create' ? end : object;
    });
  }

  note({ objects, nextInMs }: EventView): void {
    if (objects.length > 0) this.#last = objects; // empty if the service could not be read
    for (const object of objects) {
      const { key, state, id } = object;
      if (state === 'created' || state === 'refused') this.#settled.set(key, object);
      // this command sent the object, and the look-up has found it
      if (state === 'claim' && this.#lost.has(key)) this.#settled.set(key, { ...object, state: 'created' });
      if (state === 'created') this.out.note(`${key} is created, id ${id}`);
      if (state === 'claim') this.out.note(`${key} was found, id ${id}`);
    }
    const news = objects.filter(({ key, state }) => state === 'unknown' && !this.#lost.has(key)).map(({ key }) => key);
    if (news.length === 0) return;
    for (const key of news) this.#lost.add(key);
    const span = formatSpan(Math.ceil((nextInMs ?? 0) / 1000));
    const when = nextInMs === 0 ? 'later' : `in ${span}`;
    this.out.note(
      `the answer about ${news.join(', ')} was lost: pigeonpost checks ${when} whether the service has it, before it sends anything again (${comeBack})`,
    );
  }
}
