import { randomUUID } from 'node:crypto';
import type { WholeErasureView } from '../../api/erasures.js';
import type { ApiClient } from '../api-client.js';
import { askYesOrNo } from '../ask-yes-or-no.js';
import { askedBy } from '../asked-by.js';
import type { Context, Output } from '../context.js';
import { CommandError, ExitCode } from '../exit-code.js';
import { clientOf } from '../instance.js';
import { firstOfList, thereIsMore } from '../first-of-list.js';
import { writePrivateFile } from '../write-private-file.js';
import { erasureLines, planLines } from '../format-erasure.js';

export interface ForgetOptions {
  /** An id, a code or an e-mail address. */
  readonly attendee: string;
  readonly yes: boolean;
  readonly dryRun: boolean;
  readonly reason?: string | undefined;
  readonly json: boolean;
}

/** How long the command waits for sinks that answer within seconds. */
const waitMs = 60_000;
const lookEveryMs = 500;

/**
 * `pigeonpost forget --attendee <id|code|email>`: has a person forgotten everywhere, after it has shown what goes. Ends
 * when every place has answered, or after a minute: the erasure goes on by itself then. Exit 0, 1 when the answer is no,
 * 4 when nobody is known by that.
 */
export async function forget(context: Context, options: ForgetOptions): Promise<ExitCode> {
  const { out } = context;
  const client = await clientOf(context);
  if (options.dryRun || !options.yes) {
    const plan = await client.planErasure(options.attendee);
    if (options.dryRun) {
      show(out, options.json, plan, planLines(plan));
      return ExitCode.Done;
    }
    if (plan.people.length > 0) {
      for (const line of planLines(plan)) out.note(line);
      const agreed = await askYesOrNo('Forget this person everywhere? It cannot be undone.');
      if (agreed === undefined) {
        throw new CommandError(ExitCode.WrongUse, 'there is no terminal to ask at: add --yes to confirm');
      }
      if (!agreed) {
        out.note('nothing is done');
        return ExitCode.Failed;
      }
    }
  }
  const asked = { id: randomUUID(), attendee: options.attendee, by: askedBy(), reason: options.reason };
  const erasure = await untilDone(client, await client.forget(asked));
  show(out, options.json, erasure, erasureLines(erasure));
  return ExitCode.Done;
}

async function untilDone(client: ApiClient, begun: WholeErasureView): Promise<WholeErasureView> {
  const until = Date.now() + waitMs;
  let erasure = begun;
  while (erasure.state === 'running' && Date.now() < until) {
    // oxlint-disable-next-line no-await-in-loop -- it is looked at again and again
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
    // oxlint-disable-next-line no-await-in-loop
    erasure = await client.erasure(erasure.id);
  }
  return erasure;
}

function show(out: Output, json: boolean, value: object, lines: readonly string[]): void {
  if (json) out.line(JSON.stringify(value));
  else for (const line of lines) out.line(line);
}

/** `pigeonpost erasures list`: requests to forget a person, newest first. Exit 0, also when there are none. */
export async function listErasures(
  context: Context,
  { limit, json }: { readonly limit: number; readonly json: boolean },
): Promise<ExitCode> {
  const { out } = context;
  const client = await clientOf(context);
  const { items, more } = await firstOfList(limit, (part) => client.erasures(part));
  if (json) out.line(JSON.stringify({ items, more }));
  else if (items.length === 0) out.line('nobody was forgotten');
  else
    for (const { id, state, requestedAt, requestedBy } of items) {
      out.line([requestedAt, id, state, ...(requestedBy === null ? [] : [requestedBy])].join('  '));
    }
  if (!json && more) out.note(thereIsMore);
  return ExitCode.Done;
}

/** `pigeonpost erasures show <id>`: what became of the person at each place. Exit 0, 4 when there is none of that id. */
export async function showErasure(context: Context, { id, json }: { id: string; json: boolean }): Promise<ExitCode> {
  const { out } = context;
  const erasure = await (await clientOf(context)).erasure(id);
  show(out, json, erasure, erasureLines(erasure));
  return ExitCode.Done;
}

/**
 * `pigeonpost erasures export <file>`: who stays away, by keyed hashes alone, for `restore --erasures`. A file is never
 * written over. Exit 0, 1 when it cannot be written.
 */
export async function exportErasures(context: Context, { file }: { file: string }): Promise<ExitCode> {
  const { out } = context;
  const list = await (await clientOf(context)).forgotten();
  const text = JSON.stringify(list);
  if (file === '-') {
    out.line(text);
    return ExitCode.Done;
  }
  await writePrivateFile(file, `${text}\n`);
  const { length } = list.erasures;
  out.line(
    `${length === 1 ? 'one erasure is' : `${length} erasures are`} in ${file}, as hashes that only this ledger understands`,
  );
  return ExitCode.Done;
}

/** `pigeonpost erasures lift <id>`: the person may be taken in again. Exit 0, 1 when it cannot be, 4 when there is none. */
export async function liftErasure(context: Context, { id, json }: { id: string; json: boolean }): Promise<ExitCode> {
  const { out } = context;
  await (await clientOf(context)).liftErasure(id);
  out.line(json ? JSON.stringify({ done: true, id }) : 'lifted: what comes of this person is taken in again');
  return ExitCode.Done;
}
