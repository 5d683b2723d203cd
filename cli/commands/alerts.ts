import type { TestedAlerts } from '../../api/alerts.js';
import { testAlerts as testFromHere } from '../../operations/alerts/alert-desk.js';
import { loadProcessConfig } from '../../operations/load-process-config.js';
import type { Context } from '../context.js';
import { CommandError, ExitCode } from '../exit-code.js';
import { clientOf, instanceOf } from '../instance.js';

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
