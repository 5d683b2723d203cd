import { check as checkAll, type Checked } from '../../worker/check.js';
import { binarySources } from '../../worker/embedded-temporal/binary-sources.js';
import { loadProcessConfig } from '../../operations/load-process-config.js';
import { type Estimate, estimate } from '../../operations/estimate.js';
import { checkSinks } from '../check-sinks.js';
import type { Context } from '../context.js';
import { ExitCode } from '../exit-code.js';
import { formatEstimate } from '../format-estimate.js';
import { printLabelled } from '../print-line.js';
import { whileWaiting } from '../while-waiting.js';

/** A request or two for each pigeonhole, one after another. */
const estimateTimeoutMs = 10 * 60_000;

/**
 * `pigeonpost check`: the configuration, each key, each sink, the store, Temporal, a line each; and a note for each field
 * that a mapping reads and no stored item has, and for how many people each sink is sent. A list of which a mapping
 * withholds everything is a problem. With `--estimate` also what reading will need of the request quota on the
 * busiest day of the calendar. Exit 0 when all is well, 2 for a wrong configuration, 3 when something cannot be reached,
 * 1 when something refuses; notes change nothing of that.
 */
export async function check(
  { config, out }: Context,
  { json, estimate: wantsEstimate, quota }: { json: boolean; estimate: boolean; quota: number | null },
): Promise<ExitCode> {
  const loaded = await loadProcessConfig(config);
  const results: Checked[] = [{ what: 'configuration', result: 'ok', text: `${config} can be used` }];
  const show = ({ what, result, text }: Checked): void => {
    if (!json) printLabelled(out, result === 'ok' ? ['ok', 'green'] : ['PROBLEM', 'red'], `${what}: ${text}`);
  };
  show(results[0]!);
  for (const { line, key, message } of loaded.warnings) {
    if (!json) printLabelled(out, ['note', 'yellow'], `${config}:${line}: ${key}: ${message}`);
  }
  for await (const result of checkAll(loaded, binarySources(), AbortSignal.timeout(60_000))) {
    results.push(result);
    show(result);
  }
  const { problems, notes } = await whileWaiting('planning what is stored', () => checkSinks(loaded));
  for (const { sink, text } of problems) {
    const problem: Checked = { what: `sink ${sink}`, result: 'refused', text };
    results.push(problem);
    show(problem);
  }
  for (const note of notes) if (!json) printLabelled(out, ['note', 'yellow'], note);
  const estimates: Estimate[] = [];
  const canRead = results.every(({ what, result }) => result === 'ok' || !what.startsWith('workspace '));
  if (wantsEstimate && canRead) {
    const signal = AbortSignal.timeout(estimateTimeoutMs);
    for await (const each of estimate(loaded, { quota, now: Date.now(), signal })) {
      estimates.push(each);
      if (!json) for (const line of formatEstimate(each)) out.line(line);
    }
  }
  if (json) {
    out.line(JSON.stringify({ results, warnings: loaded.warnings, notes, ...(wantsEstimate ? { estimates } : {}) }));
  }
  if (results.some(({ result }) => result === 'refused')) return ExitCode.Failed;
  return results.some(({ result }) => result === 'unreachable') ? ExitCode.Unreachable : ExitCode.Done;
}
