import type { Command } from 'commander';
import { exampleText, type Run, type Context } from '../command.js';
import type { TestedAlerts } from '../../api/alerts.js';
import { CommandError, ExitCode } from '../exit-code.js';
import { clientOf, instanceOf } from '../api-client.js';
import { counted, formatInstant } from '../../base/words.js';

export function addAlerts(program: Command, run: Run): void {
  const alerts = program.command('alerts').description('List open alerts, and send a test alert');
  alerts
    .command('list')
    .description('List open alerts, and whether each receiver accepts them')
    .option('--json', 'print one JSON document', false)
    .addHelpText('after', exampleText('alerts list'))
    .action((options: { json: boolean }) => run((context) => listAlerts(context, options)));
  alerts
    .command('test')
    .description('Send a test alert to every receiver; also works before the first start')
    .option('--json', 'print one JSON document', false)
    .addHelpText('after', exampleText('alerts test'))
    .action((options: { json: boolean }) => run((context) => testAlerts(context, options)));
}

/** `pigeonpost alerts list`: open alerts, and whether each receiver accepts them. Exit 0, also if there are none. */
async function listAlerts(context: Context, { json }: { json: boolean }): Promise<ExitCode> {
  const { out } = context;
  const view = await (await clientOf(context)).alerts();
  if (json) {
    out.line(JSON.stringify(view));
    return ExitCode.Done;
  }
  if (view.raised.length === 0) out.line('no open alerts');
  for (const { title, since, isOver, todo } of view.raised) {
    const at = formatInstant(since);
    out.line(`${title} (${isOver ? `over since ${at}; the recovery is reported soon` : `noticed at ${at}`})`);
    if (todo !== null) out.line(`  ${todo}`);
  }
  for (const { receiver, waiting, failure } of view.receivers) {
    out.line(
      `${receiver}: ${failure ?? 'accepts alerts'}${waiting === 0 ? '' : `; ${counted(waiting, 'alert')} waiting`}`,
    );
  }
  return ExitCode.Done;
}

/**
 * `pigeonpost alerts test`: sends every receiver a test alert, from the running pigeonpost or, before the first start,
 * from this process. Exit 0, 1 if a receiver rejects it, 2 if no receiver is configured.
 */
async function testAlerts(context: Context, { json }: { json: boolean }): Promise<ExitCode> {
  const { loadProcessConfig } = await import('../../operations/load-process-config.js');
  const { testAlerts: testFromHere } = await import('../../operations/alerts/alert-desk.js');
  const { out } = context;
  const { config, client } = await instanceOf(context);
  if (config?.hasAlerts === false) {
    throw new CommandError(
      ExitCode.WrongUse,
      'no receiver of alerts is configured: add one under "alerts.to" in pigeonpost.yaml',
    );
  }
  const receivers = await client.testAlerts().then(
    (answer) => answer.receivers,
    async (error: unknown): Promise<TestedAlerts['receivers']> => {
      if (config === undefined || !(error instanceof CommandError) || error.exitCode !== ExitCode.Unreachable)
        throw error;
      out.note('no pigeonpost runs with this configuration, so this command sends the test');
      return await testFromHere(await loadProcessConfig(config.file));
    },
  );
  if (json) out.line(JSON.stringify({ receivers }));
  else for (const { receiver, detail } of receivers) out.line(`${receiver}: ${detail ?? 'delivered'}`);
  return receivers.every(({ delivered }) => delivered) ? ExitCode.Done : ExitCode.Failed;
}
