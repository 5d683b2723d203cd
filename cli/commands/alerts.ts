import type { CliCommand, Context, JsonOption } from '../command.js';
import type { TestedAlerts } from '../../api/alerts.js';
import { CommandError, ExitCode, wrongUse } from '../exit-code.js';
import { clientOf, instanceOf } from '../api-client.js';
import { printResult } from '../output.js';
import { counted, formatInstant } from '../../base/words.js';

export function addAlerts(program: CliCommand): void {
  const alerts = program.command('alerts').description('List open alerts, and send a test alert');
  alerts
    .command('list')
    .description('List open alerts, and whether each receiver accepts them')
    .json()
    .examples('alerts list')
    .runs(listAlerts);
  alerts
    .command('test')
    .description('Send a test alert to every receiver; also works before the first start')
    .json()
    .examples('alerts test')
    .runs(testAlerts);
}

/** `pigeonpost alerts list`: open alerts, and whether each receiver accepts them. Exit 0, also if there are none. */
export async function listAlerts(context: Context, { json }: JsonOption): Promise<ExitCode> {
  const view = await (await clientOf(context)).get('/api/alerts', {});
  return printResult(context.out, json, view, [
    ...(view.raised.length === 0 ? ['no open alerts'] : []),
    ...view.raised.flatMap(({ title, since, isOver, todo }) => {
      const at = formatInstant(since);
      const state = isOver ? `over since ${at}; the recovery is reported soon` : `noticed at ${at}`;
      return [`${title} (${state})`, ...(todo === null ? [] : [`  ${todo}`])];
    }),
    ...view.receivers.map(({ receiver, waiting, failure, deliveredAt }) => {
      const left = waiting === 0 ? '' : `; ${counted(waiting, 'alert')} waiting`;
      const state = failure ?? (deliveredAt === null ? 'nothing sent yet' : 'accepts alerts');
      return `${receiver}: ${state}${left}`;
    }),
  ]);
}

/**
 * `pigeonpost alerts test`: sends every receiver a test alert, from the running pigeonpost or, before the first start,
 * from this process. Exit 0, 1 if a receiver rejects it, 2 if no receiver is configured.
 */
async function testAlerts(context: Context, { json }: JsonOption): Promise<ExitCode> {
  const { loadProcessConfig } = await import('../../operations/load-process-config.js');
  const { testAlerts: testFromHere } = await import('../../operations/alerts/alert-desk.js');
  const { out } = context;
  const { config, client } = await instanceOf(context);
  if (config?.hasAlerts === false) {
    throw wrongUse('no receiver of alerts is configured: add one under "alerts.to" in pigeonpost.yaml');
  }
  const receivers = await client.post('/api/alerts/test', { json: {} }).then(
    (answer) => answer.receivers,
    async (error: unknown): Promise<TestedAlerts['receivers']> => {
      if (config === undefined || !(error instanceof CommandError) || error.exitCode !== ExitCode.Unreachable)
        throw error;
      out.note('no pigeonpost runs with this configuration, so this command sends the test');
      return await testFromHere(await loadProcessConfig(config.file));
    },
  );
  const lines = receivers.map(({ receiver, detail }) => `${receiver}: ${detail ?? 'delivered'}`);
  printResult(out, json, { receivers }, lines);
  return receivers.every(({ delivered }) => delivered) ? ExitCode.Done : ExitCode.Failed;
}
