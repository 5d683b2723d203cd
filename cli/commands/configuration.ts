import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Candidate } from '../../operations/configuration-plan.js';
import { checkCommandFile } from '../../operations/load-process-config.js';
import { askYesOrNo } from '../ask-yes-or-no.js';
import type { Context } from '../context.js';
import { CommandError, ExitCode } from '../exit-code.js';
import { deliveriesOf, formatPlan } from '../format-plan.js';
import { counted } from '../grouped.js';
import { clientOf } from '../instance.js';
import { whileWaiting } from '../while-waiting.js';

/**
 * `pigeonpost config plan`: what the file changes in the place of the running configuration, and the deliveries that
 * this causes. Changes nothing. Exit 0, 2 when the file cannot be used.
 */
export async function planConfig(context: Context, { json }: { json: boolean }): Promise<ExitCode> {
  const { out } = context;
  const candidate = await candidateAt(context.config);
  const client = await clientOf(context);
  const plan = await whileWaiting('counting what it sends', () => client.planConfiguration(candidate));
  if (json) out.line(JSON.stringify(plan));
  else for (const line of formatPlan(plan)) out.line(line);
  return ExitCode.Done;
}

export interface ApplyConfigOptions {
  readonly json: boolean;
  readonly yes: boolean;
}

/**
 * `pigeonpost config apply`: makes the file that `start` was given, as it stands now, the running configuration,
 * without a restart. Where that sends changes to sinks, a person is asked first, or `--yes` says so. Exit 0, also when it
 * is that already; 1 when the person says no; 2 when the file cannot be used, or nobody can be asked: then nothing has
 * changed.
 */
export async function applyConfig(context: Context, { json, yes }: ApplyConfigOptions): Promise<ExitCode> {
  const { out } = context;
  const candidate = context.url === undefined ? await candidateAt(context.config) : {}; // elsewhere it is another file
  const client = await clientOf(context);
  const plan = await whileWaiting('counting what it sends', () => client.planConfiguration(candidate));
  const { changes, estimated } = deliveriesOf(plan);
  const wasShown = changes > 0 && !yes;
  if (wasShown) {
    for (const line of formatPlan(plan)) {
      if (json) out.note(line);
      else out.line(line);
    }
    const number = `${estimated ? 'about ' : ''}${counted(changes, 'change')}`;
    const agreed = await askYesOrNo(`Apply it, which sends ${number} to sinks?`);
    if (agreed === undefined) {
      throw new CommandError(
        ExitCode.WrongUse,
        `applying it sends ${number} to sinks, and there is no terminal to ask at: add --yes`,
      );
    }
    if (!agreed) {
      out.note('nothing is applied');
      return ExitCode.Failed;
    }
  }
  const { file } = candidate;
  const applied = await client.applyConfiguration(file === undefined ? {} : { file });
  if (json) out.line(JSON.stringify(applied));
  else if (applied.changed) {
    if (!wasShown) for (const line of formatPlan(applied.plan)) out.line(line);
    out.line(`configuration ${applied.number} is current`);
  } else {
    out.line(`nothing has changed: configuration ${applied.number} is current`);
    out.note(
      'a ${NAME} keeps the value that pigeonpost was started with: restart it to change one. ${file:/path} is read again',
    );
  }
  return ExitCode.Done;
}

/** The file, without mistakes that can be found here. @throws {ConfigError} */
async function candidateAt(config: string): Promise<Candidate> {
  await checkCommandFile(config);
  const file = resolve(config);
  return { file, text: await readFile(file, 'utf8') };
}
