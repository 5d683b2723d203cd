import type { Action } from '../../operations/action.js';
import type { ApiClient } from '../api-client.js';
import { askedBy } from '../asked-by.js';
import type { Context } from '../context.js';
import { spanInWords } from '../in-words.js';
import { CommandError, ExitCode } from '../exit-code.js';
import { instanceOf } from '../instance.js';
import { listNamed } from '../list-named.js';
import { type KnownNames, thingNamed } from '../thing-named.js';

export interface ActOptions {
  readonly verb: Action['do'];
  readonly what: string;
  readonly json: boolean;
  /** Of a sweep: this list alone. */
  readonly list?: string | undefined;
  /** Of a poll: read at the live interval for this long, e.g. `2h`. */
  readonly for?: string | undefined;
  /** Of a poll: end what `--for` started. */
  readonly end?: boolean | undefined;
  readonly reason?: string | undefined;
}

/**
 * `pigeonpost pause|resume|try-now|poll-now|sweep <what>` and `pigeonpost sink approve <name>`: asks the running pigeonpost.
 * What: `workspace:acme`, `pigeonhole:acme/101` or `sink:hooks`, or the name alone. Exit 0, 4 when it is not known.
 */
export async function act(context: Context, options: ActOptions): Promise<ExitCode> {
  const { out } = context;
  const { verb, what, json } = options;
  const { client, config } = await instanceOf(context);
  const { kind, name } = await thingNamed(what, async () => config ?? (await namesAt(client)));
  if ((verb === 'poll-now' || verb === 'sweep') && kind === 'sink') {
    throw new CommandError(
      ExitCode.WrongUse,
      'there is nothing to read at a sink: write workspace:NAME or pigeonhole:WORKSPACE/ID',
    );
  }
  const forSeconds = secondsOf(options, kind);
  const list = options.list === undefined ? undefined : listNamed(options.list);
  const action: Action = { do: verb, kind, name };
  const { reason } = options;
  const { note } = await client.act({ ...action, list, forSeconds, by: askedBy(), reason });
  if (json) out.line(JSON.stringify({ done: true, ...action, list, forSeconds, reason, note }));
  else if (note !== undefined) out.line(note);
  else if (forSeconds === 0) out.line(`the rehearsal of ${kind} ${name} is over`);
  else if (forSeconds !== undefined)
    out.line(
      `every list of ${kind} ${name} is read at the live interval for ${spanInWords(forSeconds)}; end it with: pigeonpost poll-now ${what} --end`,
    );
  else out.line(`${kind} ${name} ${becomes[verb]}${list === undefined ? '' : `: ${list}`}`);
  return ExitCode.Done;
}

const unitSeconds = { s: 1, m: 60, h: 3600 } as const;
const longestSeconds = 24 * 3600;

/** @returns how long a rehearsal lasts; 0 ends it; undefined: none is requested */
function secondsOf({ for: span, end = false }: ActOptions, kind: string): number | undefined {
  if (span === undefined && !end) return undefined;
  if (kind !== 'pigeonhole') {
    throw new CommandError(ExitCode.WrongUse, '--for and --end take one pigeonhole: write pigeonhole:WORKSPACE/ID');
  }
  if (span !== undefined && end) throw new CommandError(ExitCode.WrongUse, 'give --for or --end, not both');
  if (span === undefined) return 0;
  const [, number, unit] = /^(\d{1,5})([smh])$/.exec(span) ?? [];
  const seconds = number === undefined ? 0 : Number(number) * unitSeconds[unit as keyof typeof unitSeconds];
  if (seconds >= 1 && seconds <= longestSeconds) return seconds;
  throw new CommandError(ExitCode.WrongUse, `--for is "${span}": write a duration from 1s to 24h, such as 90m or 2h`);
}

const becomes = {
  pause: 'is paused',
  resume: 'is resumed',
  'try-now': 'is tried now',
  'poll-now': 'is read now',
  sweep: 'is walked whole now',
  approve: 'is approved and sends from its watermark',
} as const;

/** Of a pigeonpost whose configuration is elsewhere. */
async function namesAt(client: ApiClient): Promise<KnownNames> {
  const { workspaces, sinks } = await client.status({ counts: false });
  return { workspaces: workspaces.map(({ name }) => name), sinks: sinks.map(({ name }) => name) };
}
