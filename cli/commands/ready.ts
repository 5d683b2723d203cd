import type { Readiness, ReadyCheck } from '../../operations/ready/readiness.js';
import type { ApiClient } from '../api-client.js';
import { askYesOrNo } from '../ask-yes-or-no.js';
import type { Context } from '../context.js';
import { CommandError, ExitCode } from '../exit-code.js';
import { clientOf } from '../instance.js';
import { formatCanaries, formatReady } from '../format-ready.js';
import { pigeonholeNamed } from '../pigeonhole-named.js';

export interface ReadyOptions {
  readonly pigeonhole: string;
  /** Send an invented item through each sink, and take it back. */
  readonly canary: boolean;
  readonly yes: boolean;
  readonly json: boolean;
}

/**
 * `pigeonpost ready <pigeonhole>`: the evening before, whether an event can begin; with `--canary` also by an invented
 * item through each sink, once a person has agreed. Exit 0 when nothing has failed and everything could be looked at, 1
 * when not or when the answer is no, 2 when there is nobody to ask, 3 when no pigeonpost runs, 4 for a pigeonhole that is
 * not known.
 */
export async function ready(context: Context, { pigeonhole, canary, yes, json }: ReadyOptions): Promise<ExitCode> {
  const { out } = context;
  const client = await clientOf(context);
  const found = await client.ready(pigeonholeNamed(pigeonhole));
  if (!json) for (const line of formatReady(found, out)) out.line(line);
  if (!canary) {
    if (json) out.line(JSON.stringify(found));
    return found.ready ? ExitCode.Done : ExitCode.Failed;
  }
  const sinks = sinksIn(found.checks);
  if (sinks.length > 0 && !yes) {
    const agreed = await askYesOrNo(questionFor(sinks));
    if (agreed === undefined) {
      throw new CommandError(ExitCode.WrongUse, 'there is no terminal to ask at: add --yes to send canaries');
    }
    if (!agreed) {
      out.note('nothing is sent');
      return ExitCode.Failed;
    }
  }
  const canaries = await send(client, found, sinks);
  if (json) out.line(JSON.stringify({ ...found, canaries }));
  else for (const line of formatCanaries(canaries, out)) out.line(line);
  const passed = canaries.every(({ state }) => state === 'ok' || state === 'warning');
  return found.ready && passed ? ExitCode.Done : ExitCode.Failed;
}

async function send(
  client: ApiClient,
  { pigeonhole: { workspace, id } }: Readiness,
  sinks: readonly string[],
): Promise<readonly ReadyCheck[]> {
  if (sinks.length === 0) return [];
  return (await client.sendCanaries({ workspace, id: String(id) }, sinks)).canaries;
}

/** The sinks that the list has a line for. */
function sinksIn(checks: readonly ReadyCheck[]): string[] {
  return checks.flatMap(({ id }) => (id.startsWith('sink:') ? [id.slice('sink:'.length)] : []));
}

function questionFor(sinks: readonly string[]): string {
  const [what, back] = sinks.length === 1 ? ['', 'it'] : [' each', 'them'];
  return `Send an invented item through ${sinks.join(', ')}${what}, and take ${back} back?`;
}
