import { loadProcessConfig } from '../../worker/load-process-config.js';
import { apiClientFor } from '../api-client.js';
import type { Context } from '../context.js';
import { ExitCode } from '../exit-code.js';
import { formatReady } from '../format-ready.js';
import { pigeonholeNamed } from '../pigeonhole-named.js';

/**
 * `pigeonpost ready <pigeonhole>`: the evening before, whether an event can begin. Exit 0 when nothing has failed and
 * everything could be looked at, 1 when not, 3 when no pigeonpost runs, 4 for a pigeonhole that is not known.
 */
export async function ready(
  { config, out }: Context,
  { pigeonhole, json }: { pigeonhole: string; json: boolean },
): Promise<ExitCode> {
  const named = pigeonholeNamed(pigeonhole);
  const found = await apiClientFor(await loadProcessConfig(config)).ready(named);
  if (json) out.line(JSON.stringify(found));
  else for (const line of formatReady(found, out)) out.line(line);
  return found.ready ? ExitCode.Done : ExitCode.Failed;
}
