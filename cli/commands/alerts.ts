import type { Command } from 'commander';
import { exampleText, type Run } from '../command-options.js';
import type { TestedAlerts } from '../../api/alerts.js';
import type { Context } from '../context.js';
import { CommandError, ExitCode } from '../exit-code.js';
import { clientOf, instanceOf } from '../instance.js';

/** Adds `pigeonpost alerts` with its commands. */
export function addAlerts(program: Command, run: Run): void {
  const alerts = program.command('alerts').description('Show and test the alerts of `alerts` in pigeonpost.yaml');
  alerts
    .command('list')
    .description('List open alerts, and whether each receiver accepts them')
    .option('--json', 'one JSON document', false)
    .addHelpText('after', exampleText('alerts list'))
    .action((options: { json: boolean }) => run((context) => listAlerts(context, options)));
  alerts
    .command('test')
    .description('Send a test alert to every receiver; works before the first start, too')
    .option('--json', 'one JSON document', false)
    .addHelpText('after', exampleText('alerts test'))
    .action((options: { json: boolean }) => run((context) => testAlerts(context, options)));
}

/** `pigeonpost alerts list`: what was told and is not over, and how the receivers take it. Exit 0, also when all is well. */
export async function listAlerts(context: Context, { json }: { json: boolean }): Promise<ExitCode> {
  const { out } = context;
  const view = await (await clientOf(context)).alerts();
  if (json) {
    out.line(JSON.stringify(view));
    return ExitCode.Done;
  }
  if (view.raised.length === 0) out.line('nothing is wrong that anybody is told of');
  for (const { title, since, todo } of view.raised) {
    out.line(`${title}, since ${since}`);
    if (todo !== null) out.line(`  ${todo}`);
  }
  for (const { receiver, waiting, failure } of view.receivers) {
    out.line(`${receiver}: ${failure ?? 'takes what it is sent'}${waiting === 0 ? '' : `; ${waiting} wait`}`);
  }
  return ExitCode.Done;
}

/**
 * `pigeonpost alerts test`: sends every receiver a message that says that it is a test; from the running pigeonpost, or
 * where none runs from here, so that it can be tried before the first start. Exit 0, 1 when a receiver does not take it,
 * 2 when there is none.
 */
export async function testAlerts(context: Context, { json }: { json: boolean }): Promise<ExitCode> {
  const { loadProcessConfig } = await import('../../operations/load-process-config.js');
  const { testAlerts: testFromHere } = await import('../../operations/alerts/alert-desk.js');
  const { out } = context;
  const { config, client } = await instanceOf(context);
  if (config?.hasAlerts === false) {
    throw new CommandError(
      ExitCode.WrongUse,
      'no receivers are configured: name them under "alerts.to" in pigeonpost.yaml',
    );
  }
  const receivers = await client.testAlerts().then(
    (answer) => answer.receivers,
    async (error: unknown): Promise<TestedAlerts['receivers']> => {
      if (config === undefined || !(error instanceof CommandError) || error.exitCode !== ExitCode.Unreachable)
        throw error;
      out.note('no pigeonpost runs with this configuration: sent from here');
      return await testFromHere(await loadProcessConfig(config.file));
    },
  );
  if (json) out.line(JSON.stringify({ receivers }));
  else for (const { receiver, detail } of receivers) out.line(`${receiver}: ${detail ?? 'delivered'}`);
  return receivers.every(({ delivered }) => delivered) ? ExitCode.Done : ExitCode.Failed;
}
