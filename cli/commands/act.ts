import type { Action } from '../../api/action.js';
import { loadProcessConfig } from '../../worker/load-process-config.js';
import { apiClientFor } from '../api-client.js';
import { askedBy } from '../asked-by.js';
import type { Context } from '../context.js';
import { spanInWords } from '../in-words.js';
import { CommandError, ExitCode } from '../exit-code.js';
import { listNamed } from '../list-named.js';

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
 * What: `workspace:acme`, `pigeonhole:acme/101` or `sink:hooks`. Exit 0, 4 when it is not known.
 */
export async function act({ config, out }: Context, options: ActOptions): Promise<ExitCode> {
  const { verb, what, json } = options;
  const match = /^(workspace|pigeonhole|sink):(.+)$/.exec(what);
  if (match === null) {
    throw new CommandError(
      ExitCode.WrongUse,
      `"${what}" names nothing: write workspace:NAME, pigeonhole:WORKSPACE/ID or sink:NAME`,
    );
  }
  if ((verb === 'poll-now' || verb === 'sweep') && match[1] === 'sink') {
    throw new CommandError(
      ExitCode.WrongUse,
      'there is nothing to read at a sink: write workspace:NAME or pigeonhole:WORKSPACE/ID',
    );
  }
  const forSeconds = secondsOf(options, match[1]!);
  const list = options.list === undefined ? undefined : listNamed(options.list);
  const action: Action = { do: verb, kind: match[1] as Action['kind'], name: match[2]! };
  const told = { ...action, list, forSeconds, by: askedBy(), reason: options.reason };
  await apiClientFor(await loadProcessConfig(config)).act(told);
  if (json) out.line(JSON.stringify({ done: true, ...action, list, forSeconds, reason: options.reason }));
  else if (forSeconds === 0) out.line(`the rehearsal of ${action.kind} ${action.name} is over`);
  else if (forSeconds !== undefined)
    out.line(
      `every list of ${action.kind} ${action.name} is read at the live interval for ${spanInWords(forSeconds)}; end it with: pigeonpost poll-now ${what} --end`,
    );
  else out.line(`${action.kind} ${action.name} ${becomes[verb]}${list === undefined ? '' : `: ${list}`}`);
  return ExitCode.Done;
}

const unitSeconds = { s: 1, m: 60, h: 3600 } as const;
const longestSeconds = 24 * 3600;

/** @returns how long a rehearsal lasts; 0 ends it; undefined: none is asked for */
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
