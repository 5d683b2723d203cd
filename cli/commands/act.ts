import type { Action } from '../../api/action.js';
import { loadProcessConfig } from '../../worker/load-process-config.js';
import { apiClientFor } from '../api-client.js';
import { askedBy } from '../asked-by.js';
import type { Context } from '../context.js';
import { CommandError, ExitCode } from '../exit-code.js';
import { listNamed } from '../list-named.js';

export interface ActOptions {
  readonly verb: Action['do'];
  readonly what: string;
  readonly json: boolean;
  /** Of a sweep: this list alone. */
  readonly list?: string | undefined;
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
  const list = options.list === undefined ? undefined : listNamed(options.list);
  const action: Action = { do: verb, kind: match[1] as Action['kind'], name: match[2]! };
  const told = { ...action, list, by: askedBy(), reason: options.reason };
  await apiClientFor(await loadProcessConfig(config)).act(told);
  if (json) out.line(JSON.stringify({ done: true, ...action, list, reason: options.reason }));
  else out.line(`${action.kind} ${action.name} ${becomes[verb]}${list === undefined ? '' : `: ${list}`}`);
  return ExitCode.Done;
}

const becomes = {
  pause: 'is paused',
  resume: 'is resumed',
  'try-now': 'is tried now',
  'poll-now': 'is read now',
  sweep: 'is walked whole now',
  approve: 'is approved and sends from its watermark',
} as const;
