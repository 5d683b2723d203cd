import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { differing, findingWords, parityClasses, parityWord, planWords } from '../../base/parity-words.js';
import { counted, formatDistance, formatInstant, grouped } from '../../base/words.js';
import type { FindingView, ParityView } from '../../operations/audit-sink.js';
import { clientOf, type ApiClient } from '../api-client.js';
import {
  type CliCommand,
  confirm,
  type Context,
  type JsonOption,
  operatorName,
  reasonHelp,
  wholeNumber,
} from '../command.js';
import { CommandError, ExitCode, wrongUse } from '../exit-code.js';
import { LiveBlock, type Output, printLine, printResult } from '../output.js';
import { renderLine, span, tableLines } from '../text-line.js';
import { stopSignal } from '../until-stopped.js';

export function addAudit(program: CliCommand): void {
  program
    .command('audit <sink>')
    .description('Compare what a destination holds with what was delivered, and repair the differences')
    .option('--pigeonhole <workspace/id>', 'only this pigeonhole')
    .option('--results', 'show the results of the last audit instead of starting one', false)
    .option('--repair', 'show what a repair would do, and repair after a confirmation', false)
    .option('--yes', 'repair without the confirmation', false)
    .option('--limit <n>', 'number of differences to show', wholeNumber(100_000, 0), 20)
    .option('--reason <text>', reasonHelp)
    .json()
    .examples('audit crm', 'audit crm --pigeonhole acme/101 --repair')
    .runs(audit, { holdsSignals: true });
}

interface AuditOptions extends JsonOption {
  readonly pigeonhole?: string | undefined;
  readonly results: boolean;
  readonly repair: boolean;
  readonly yes: boolean;
  readonly limit: number;
  readonly reason?: string | undefined;
}

/** The sink and the pigeonholes that a command is about. */
interface Target {
  readonly client: ApiClient;
  readonly sink: string;
  readonly pigeonhole: string | undefined;
}

/**
 * `pigeonpost audit <sink>`: audits a sink and shows its progress and results; with `--repair`, repairs the differences. Ctrl-C ends
 * the command and not the audit. Exit 0 if nothing differs at the end, 1 if the operator declines or the audit cannot
 * continue, 4 if the sink or the pigeonhole is unknown, 5 if something differs.
 */
async function audit(context: Context, named: string, options: AuditOptions): Promise<ExitCode> {
  const { out } = context;
  const { json, limit, repair, results, yes, reason } = options;
  const pigeonhole = options.pigeonhole?.replace(/^pigeonhole:/, '');
  if (pigeonhole !== undefined && !/^[^/]+\/\d+$/.test(pigeonhole)) {
    throw wrongUse(`--pigeonhole is "${options.pigeonhole}": give WORKSPACE/ID; for the workspace lists, use ID 0`);
  }
  if (yes && !repair) throw wrongUse('--yes confirms a repair: add --repair');
  const target: Target = { client: await clientOf(context), sink: named.replace(/^sink:/, ''), pigeonhole };
  const stop = stopSignal();
  let parity = await parityOf(target);
  if (!results) {
    const before = new Map(parity.lanes.map((lane) => [placeOf(lane), lane.endedAt]));
    await target.client.post('/api/sinks/{name}/audits', {
      params: { name: target.sink },
      json: { pigeonhole: pigeonhole ?? null },
    });
    const isDone = (lane: Lane): boolean => lane.pass === 'done' && lane.endedAt !== before.get(placeOf(lane));
    const show = progressDisplay(out, json, auditProgress);
    parity = await follow(target, { isDone, show, stop });
    if (stop.aborted) return stopped(out, 'the audit continues: see "pigeonpost audit --results"');
  }
  if (repair && hasWork(parity)) {
    if (!json) for (const line of resultLines(parity, out)) out.note(line);
    for (const line of planWords(parity.plan)) out.note(line);
    if (!yes && !(await confirm(out, `Repair sink ${target.sink}?`, 'nothing was repaired'))) return ExitCode.Failed;
    await target.client.post('/api/sinks/{name}/repairs', {
      params: { name: target.sink },
      json: { id: randomUUID(), pigeonhole: pigeonhole ?? null, until: parity.plan.until, by: operatorName(), reason },
    });
    const show = progressDisplay(out, json, repairProgress);
    parity = await follow(target, { isDone: ({ repairing }) => repairing === 0, show, stop });
    if (stop.aborted) return stopped(out, 'the repair continues: see "pigeonpost status"');
  }
  const { items, next } = await findingsOf(target, limit);
  const differs = parity.lanes.some(({ counts }) => differing(counts) > 0);
  printResult(out, json, { ...parity, findings: items }, []);
  if (!json) {
    for (const line of resultLines(parity, out)) printLine(out, line);
    for (const line of tableLines(items.map(findingCells))) printLine(out, line);
    if (next !== null && limit > 0) out.note('there are more: raise --limit to show them');
    if (differs && !repair) out.note(`to repair the differences, run "pigeonpost audit ${target.sink} --repair"`);
  }
  return differs ? ExitCode.DoneWithRejects : ExitCode.Done;
}

type Lane = ParityView['lanes'][number];

function placeOf({ workspace, pigeonholeId }: Lane): string {
  return `${workspace}/${pigeonholeId}`;
}

function hasWork({ plan }: ParityView): boolean {
  return Object.values(plan.actions).some((count) => count > 0);
}

async function parityOf({ client, sink, pigeonhole }: Target): Promise<ParityView> {
  return await client.get('/api/sinks/{name}/parity', { params: { name: sink }, query: { pigeonhole } });
}

/** Maximum number of findings in one answer. */
const pageSize = 500;

async function findingsOf({ client, sink, pigeonhole }: Target, limit: number) {
  const items: FindingView[] = [];
  let next: string | null = null;
  while (items.length < limit) {
    const query: Readonly<Record<string, string | number | undefined>> = {
      pigeonhole,
      limit: Math.min(pageSize, limit - items.length),
      after: next ?? undefined,
    };
    const page: { items: FindingView[]; next: string | null } = await client.get('/api/sinks/{name}/parity/findings', {
      params: { name: sink },
      query,
    });
    items.push(...page.items);
    next = page.next;
    if (next === null) break;
  }
  return { items, next };
}

const lookEveryMs = 500;

/** Shows the progress until every lane is done. @throws {CommandError} exit 1 if a lane cannot continue */
async function follow(
  target: Target,
  {
    isDone,
    show,
    stop,
  }: {
    readonly isDone: (lane: Lane) => boolean;
    readonly show: (parity: ParityView) => void;
    readonly stop: AbortSignal;
  },
): Promise<ParityView> {
  for (;;) {
    const parity = await parityOf(target);
    show(parity);
    if (parity.lanes.length > 0 && parity.lanes.every(isDone)) return parity;
    const failed = parity.lanes.find((lane) => lane.failure !== null && !isDone(lane));
    if (failed !== undefined) {
      throw new CommandError(
        ExitCode.Failed,
        `the destination of sink ${target.sink} cannot be read: ${failed.failure}. pigeonpost tries again automatically; see "pigeonpost audit ${target.sink} --results"`,
      );
    }
    await sleep(lookEveryMs, undefined, { signal: stop }).catch(() => undefined);
    if (stop.aborted) return parity;
  }
}

function stopped(out: Output, note: string): ExitCode {
  out.note(note);
  return ExitCode.Done;
}

/** Shows a line that is redrawn in place on a terminal; otherwise, and with `--json`, a line whenever it changes. */
function progressDisplay(
  out: Output,
  json: boolean,
  words: (parity: ParityView) => string,
): (parity: ParityView) => void {
  if (out.terminal && !json) {
    const block = new LiveBlock(out);
    return (parity) => block.show([renderLine([span(words(parity))], out)]);
  }
  let said = '';
  let saidAt = -Infinity;
  return (parity) => {
    const text = words(parity);
    if (text === said || performance.now() - saidAt < lineEveryMs) return;
    out.note(text);
    said = text;
    saidAt = performance.now();
  };
}

const lineEveryMs = 10_000;

function auditProgress({ lanes }: ParityView): string {
  const open = lanes.filter(({ pass }) => pass === 'running' || pass === 'requested');
  const sum = (pick: (lane: Lane) => number): number => open.reduce((total, lane) => total + pick(lane), 0);
  const done = sum(({ checked }) => checked);
  const total = Math.max(
    done,
    sum((lane) => lane.total),
  );
  return `compared ${grouped(done)} of about ${counted(total, 'item')} in ${counted(open.length, 'pigeonhole')}`;
}

function repairProgress({ lanes }: ParityView): string {
  return `${counted(
    lanes.reduce((total, { repairing }) => total + repairing, 0),
    'difference',
  )} left to repair`;
}

/** Returns the results as a table with a row for each pigeonhole; as sentences, if the terminal is too narrow for it. */
function resultLines({ readable, lanes }: ParityView, { terminal, columns }: Output): string[] {
  if (!readable) return ['the destination of this sink cannot be read, so it cannot be audited'];
  if (lanes.length === 0) return ['this sink was not audited yet'];
  const shown = parityClasses.filter(([name]) => name === 'same' || lanes.some(({ counts }) => counts[name] > 0));
  const audited = ({ endedAt }: Lane): string =>
    endedAt === null ? 'never' : formatDistance(new Date(endedAt), new Date());
  const table = tableLines(
    [
      ['pigeonhole', ...shown.map(([, words]) => words), 'audited'],
      ...lanes.map((lane) => [placeOf(lane), ...shown.map(([name]) => grouped(lane.counts[name])), audited(lane)]),
    ],
    shown.map((_, n) => n + 1),
  );
  if (!terminal || table.every((line) => line.length <= columns)) return table;
  return lanes.map((lane) => {
    const counts = shown.map(([name, words]) => `${grouped(lane.counts[name])} ${words}`);
    return `${placeOf(lane)}: ${counts.join(', ')}; audited ${audited(lane)}`;
  });
}

function findingCells(finding: FindingView): string[] {
  const { workspace, pigeonholeId, list, key, changedBy, changedAt } = finding;
  const by = changedBy === null ? '' : ` by ${changedBy}`;
  const at = changedAt === null ? '' : ` at ${formatInstant(changedAt)}`;
  return [
    `${workspace}/${pigeonholeId} ${list}:${key}`,
    `${parityWord(finding.class)}${by}${at}`,
    findingWords(finding).join('; '),
  ];
}
