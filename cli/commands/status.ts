import { loadProcessConfig } from '../../worker/load-process-config.js';
import { apiClientFor } from '../api-client.js';
import type { Context } from '../context.js';
import { ExitCode } from '../exit-code.js';
import { formatStatus } from '../format-status.js';
import { printLine } from '../print-line.js';

/** `pigeonpost status`: how the running pigeonpost stands. Exit 0, 3 when none answers or it is still starting. */
export async function status(
  { config, out }: Context,
  { counts, json }: { counts: boolean; json: boolean },
): Promise<ExitCode> {
  const current = await apiClientFor(await loadProcessConfig(config)).status({ counts });
  if (json) out.line(JSON.stringify(current));
  else {
    for (const line of formatStatus(current, new Date())) printLine(out, line);
    for (const { sink, pigeonholeId, list, state, items } of current.counts?.deliveries ?? []) {
      printLine(out, `  ${sink} ${pigeonholeId} ${list}: ${items} ${state}`);
    }
  }
  return ExitCode.Done;
}
