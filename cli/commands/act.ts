import type { Action } from '../../api/start-api.js';
import { loadProcessConfig } from '../../worker/load-process-config.js';
import { apiClientFor } from '../api-client.js';
import type { Context } from '../context.js';
import { CommandError, ExitCode } from '../exit-code.js';

/**
 * `pigeonpost pause|resume|poll-now <what>`: asks the running pigeonpost. What: `workspace:acme`, `pigeonhole:acme/101`
 * or `sink:hooks`. Exit 0, 4 when it is not known.
 */
export async function act(
  { config, out }: Context,
  { verb, what, json }: { verb: Action['do']; what: string; json: boolean },
): Promise<ExitCode> {
  const match = /^(workspace|pigeonhole|sink):(.+)$/.exec(what);
  if (match === null) {
    throw new CommandError(
      ExitCode.WrongUse,
      `"${what}" names nothing: write workspace:NAME, pigeonhole:WORKSPACE/ID or sink:NAME`,
    );
  }
  if (verb === 'poll-now' && match[1] === 'sink') {
    throw new CommandError(
      ExitCode.WrongUse,
      'there is nothing to read at a sink: write workspace:NAME or pigeonhole:WORKSPACE/ID',
    );
  }
  const action: Action = { do: verb, kind: match[1] as Action['kind'], name: match[2]! };
  await apiClientFor(await loadProcessConfig(config)).act(action);
  out.line(json ? JSON.stringify({ done: true, ...action }) : `${action.kind} ${action.name} ${becomes[verb]}`);
  return ExitCode.Done;
}

const becomes = { pause: 'is paused', resume: 'is resumed', 'poll-now': 'is read now' } as const;
