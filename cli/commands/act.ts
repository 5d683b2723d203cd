import { serviceLists } from '../../base/lists.js';
import {
  type CliCommand,
  confirm,
  reasonHelp,
  type Context,
  type JsonOption,
  operatorName,
  parseList,
  type KnownNames,
  parseTarget,
} from '../command.js';
import type { Action } from '../../operations/action.js';
import { type ApiClient, instanceOf } from '../api-client.js';
import type { SinkView } from '../../operations/status-view.js';
import { isObserving } from '../../base/delivery-words.js';
import { counted, formatSpan } from '../../base/words.js';
import { ExitCode, wrongUse } from '../exit-code.js';
import { printResult } from '../output.js';

/** Adds the commands that send one action to the running pigeonpost. */
export function addActions(program: CliCommand): void {
  const add = (verb: Action['do'], example: string, description: string): CliCommand =>
    program
      .command(`${verb} <what>`)
      .description(description)
      .json()
      .examples(`${verb} ${example}`)
      .runs((context, what: string, options: ActionOptions) => act(context, { verb, what, ...options }));
  const targets = 'workspace:NAME, pigeonhole:WORKSPACE/ID, sink:NAME or only NAME';
  add(
    'pause',
    'sink:hooks --reason "moving the receiver"',
    `Pause a workspace, a pigeonhole or a sink until you resume it: ${targets}`,
  ).option('--reason <text>', reasonHelp);
  add('resume', 'sink:hooks', `Continue after a pause: ${targets}`);
  add(
    'try-now',
    'sink:crm',
    'Retry immediately instead of waiting for backoff, Retry-After, the quota or a new key: workspace:NAME or sink:NAME',
  );
  add(
    'poll-now',
    'pigeonhole:acme/101 --for 2h',
    'Read now instead of at the next interval: workspace:NAME or pigeonhole:WORKSPACE/ID',
  )
    .option(
      '--for <duration>',
      'length of a rehearsal in which every list of the pigeonhole is read at the live interval: 30m, 2h, up to 24h',
    )
    .option('--end', 'end the rehearsal that --for started');
  add(
    'sweep',
    'pigeonhole:acme/101 --list questions',
    'Read whole lists now to find edited and missing items: pigeonhole:WORKSPACE/ID, or workspace:NAME for all of its pigeonholes',
  ).option('--list <list>', 'only this list');
}

export function addSink(program: CliCommand): void {
  const sink = program.command('sink').description('Approve a sink that only observes, or send a test message');
  sink
    .command('approve <name>')
    .description(
      'Let a sink with "mode: observe" send what it observed and all later changes, until its mode or destination changes',
    )
    .option('--reason <text>', reasonHelp)
    .option('--yes', 'skip the confirmation', false)
    .json()
    .examples('sink approve hooks --reason "counts are as expected"')
    .runs(approve);
  sink
    .command('test <name>')
    .description('Send a message marked as a test through a sink of type webhook or slack')
    .json()
    .examples('sink test hooks')
    .runs(testSink);
}

interface ApproveOptions extends JsonOption {
  readonly yes: boolean;
  readonly reason?: string;
}

/**
 * `pigeonpost sink approve <name>`: lets an observing sink send. Asks for confirmation if changes are then sent, unless
 * `--yes` is given. Exit 0; 1 if the operator declines or the sink needs no approval; 2 without a terminal; 4 if the
 * sink is unknown.
 */
export async function approve(context: Context, word: string, { yes, ...options }: ApproveOptions): Promise<ExitCode> {
  const name = sinkNamed(word);
  const { client } = await instanceOf(context);
  const { sinks } = await client.get('/api/status', {});
  const sink = sinks.find((each) => each.name === name);
  const changes = sink === undefined ? null : changesToSend(sink);
  const question = `Let sink ${name} send? This sends ${changes} and all later ones.`;
  if (changes !== null && !yes && !(await confirm(context.out, question, 'nothing was approved'))) {
    return ExitCode.Failed;
  }
  const done = changes === null ? undefined : `is approved: it sends ${changes} and all later ones`;
  return await act(context, { verb: 'approve', what: `sink:${name}`, done, ...options });
}

/** Returns the number of changes that an observing sink sends once it is approved, in words; null if there are none. */
function changesToSend(sink: SinkView): string | null {
  if (!isObserving(sink)) return null;
  const { wouldSend, wouldSendAnonymously, behind } = sink.observation;
  const changes = wouldSend + wouldSendAnonymously + behind;
  return changes === 0 ? null : `${behind > 0 ? 'about ' : ''}${counted(changes, 'change')}`;
}

function sinkNamed(name: string): string {
  return name.replace(/^sink:/, '');
}

/**
 * `pigeonpost sink test <name>`: sends one test message through a sink. Exit 0 if the destination accepted it; 1 if it
 * did not, or if the sink sends no tests or sends nothing now; 4 if the sink is unknown.
 */
export async function testSink(context: Context, word: string, { json }: JsonOption): Promise<ExitCode> {
  const name = sinkNamed(word);
  const { client } = await instanceOf(context);
  const result = await client.post('/api/sinks/{name}/test', { params: { name }, json: {} });
  const { delivered, detail } = result;
  const said = delivered ? 'delivered the test message' : 'did not deliver the test message';
  printResult(context.out, json, result, `sink ${name} ${said}${detail === null ? '' : `: ${detail}`}`);
  return delivered ? ExitCode.Done : ExitCode.Failed;
}

type ActionOptions = Omit<ActOptions, 'verb' | 'what' | 'done'>;

interface ActOptions extends JsonOption {
  readonly verb: Action['do'];
  readonly what: string;
  /** Words to print about the target, instead of the usual words for the action. */
  readonly done?: string | undefined;
  /** The only list to sweep. */
  readonly list?: string | undefined;
  /** Length of a rehearsal at the live interval, e.g. `2h`. */
  readonly for?: string | undefined;
  /** Ends the rehearsal that `--for` started. */
  readonly end?: boolean | undefined;
  readonly reason?: string | undefined;
}

/**
 * `pigeonpost pause|resume|try-now|poll-now|sweep <what>` and `pigeonpost sink approve <name>`: sends an action to the
 * running pigeonpost. The target is `workspace:acme`, `pigeonhole:acme/101` or `sink:hooks`, or only the name. Exit 0,
 * 1 if pigeonpost refuses the action, 4 if the target is unknown.
 */
export async function act(context: Context, options: ActOptions): Promise<ExitCode> {
  const { verb, what, reason, done = becomes[verb] } = options;
  const { client, config } = await instanceOf(context);
  const { kind, name } = await parseTarget(what, async () => config ?? (await namesAt(client)));
  if ((verb === 'poll-now' || verb === 'sweep') && kind === 'sink') {
    throw wrongUse('a sink is not read: give workspace:NAME or pigeonhole:WORKSPACE/ID');
  }
  const forSeconds = secondsOf(options, kind);
  const list = options.list === undefined ? undefined : await parseList(options.list, serviceLists);
  const action: Action = { do: verb, kind, name };
  const asked = { ...action, list, forSeconds, by: operatorName(), reason };
  const { note } = await client.post('/api/actions', { json: asked });
  const result = { done: true, ...action, list, forSeconds, reason, note };
  const rehearsal =
    forSeconds === 0
      ? `the rehearsal of ${kind} ${name} has ended`
      : `every list of ${kind} ${name} is read at the live interval for ${formatSpan(forSeconds ?? 0)}; end the rehearsal with: pigeonpost poll-now ${what} --end`;
  const plain = `${kind} ${name} ${done}${list === undefined ? '' : `: ${list}`}`;
  return printResult(context.out, options.json, result, note ?? (forSeconds === undefined ? plain : rehearsal));
}

const unitSeconds = { s: 1, m: 60, h: 3600 } as const;
const longestSeconds = 24 * 3600;

/** @returns length of the rehearsal in seconds; 0 ends it; undefined if none is requested */
function secondsOf({ for: span, end = false }: ActOptions, kind: string): number | undefined {
  if (span === undefined && !end) return undefined;
  if (kind !== 'pigeonhole') {
    throw wrongUse('--for and --end apply to one pigeonhole: give pigeonhole:WORKSPACE/ID');
  }
  if (span !== undefined && end) throw wrongUse('give --for or --end, not both');
  if (span === undefined) return 0;
  const [, number, unit] = /^(\d{1,5})([smh])$/.exec(span) ?? [];
  const seconds = number === undefined ? 0 : Number(number) * unitSeconds[unit as keyof typeof unitSeconds];
  if (seconds >= 1 && seconds <= longestSeconds) return seconds;
  throw wrongUse(`--for is "${span}": write a duration from 1s to 24h, such as 90m or 2h`);
}

const becomes = {
  pause: 'is paused',
  resume: 'is resumed',
  'try-now': 'is retried now',
  'poll-now': 'is being read',
  sweep: 'is being swept',
  approve: 'is approved: it sends all changes from now on',
} as const;

/** Reads the names from a pigeonpost whose configuration is on another machine. */
async function namesAt(client: ApiClient): Promise<KnownNames> {
  const { workspaces, sinks } = await client.get('/api/status', {});
  return { workspaces: workspaces.map(({ name }) => name), sinks: sinks.map(({ name }) => name) };
}
