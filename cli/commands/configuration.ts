import { readFile } from 'node:fs/promises';
import { loadProcessConfig } from '../../worker/load-process-config.js';
import { apiClientFor } from '../api-client.js';
import type { Context } from '../context.js';
import { ExitCode } from '../exit-code.js';
import { formatPlan } from '../format-plan.js';

/**
 * `pigeonpost config plan`: what the file changes in the place of the running configuration, and the deliveries that
 * this causes. Changes nothing. Exit 0, 2 when the file cannot be used.
 */
export async function planConfig({ config, out }: Context, { json }: { json: boolean }): Promise<ExitCode> {
  const loaded = await loadProcessConfig(config);
  const text = await readFile(loaded.file, 'utf8');
  const plan = await apiClientFor(loaded).planConfiguration({ file: loaded.file, text });
  if (json) out.line(JSON.stringify(plan));
  else for (const line of formatPlan(plan)) out.line(line);
  return ExitCode.Done;
}

/**
 * `pigeonpost config apply`: makes the file that `start` was given, as it stands now, the running configuration,
 * without a restart. Exit 0, also when it is that already; 2 when the file cannot be used: then nothing has changed.
 */
export async function applyConfig({ config, out }: Context, { json }: { json: boolean }): Promise<ExitCode> {
  const loaded = await loadProcessConfig(config);
  const applied = await apiClientFor(loaded).applyConfiguration({ file: loaded.file });
  if (json) {
    out.line(JSON.stringify(applied));
    return ExitCode.Done;
  }
  if (applied.changed) {
    for (const line of formatPlan(applied.plan)) out.line(line);
    out.line(`configuration ${applied.number} is current`);
  } else out.line(`nothing has changed: configuration ${applied.number} is current`);
  return ExitCode.Done;
}
