import { addConfigHistory } from './configuration-history.js';
import { type CliCommand, type Context, confirm, type JsonOption } from '../command.js';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type {
  Candidate,
  CausedDeliveries,
  ConfigurationChange,
  ConfigurationPlan,
  KeptItems,
  SelectionChange,
  WithheldItems,
} from '../../operations/configuration-plan.js';
import type { DraftView } from '../../operations/drafts/draft-views.js';
import { CommandError, ExitCode } from '../exit-code.js';
import { counted, singular } from '../../base/words.js';
import {
  causedByWords,
  reasonWords,
  sentByPlan,
  unsentWords,
  withheldByPlan,
  withholdingWords,
} from '../../sinks/reason-words.js';
import { type ApiClient, clientOf } from '../api-client.js';
import { printResult } from '../output.js';
import { shownInLine } from '../text-line.js';

export function addConfig(program: CliCommand): void {
  const config = program.command('config').description('Plan and apply changes of pigeonpost.yaml without a restart');
  config
    .command('plan')
    .description('Show how the file differs from the running configuration, and the deliveries this would cause')
    .option('--draft <sink>', 'the file with the draft of this sink, which was saved on the page')
    .json()
    .examples('config plan --config changed.yaml', 'config plan --draft crm')
    .runs(planConfig);
  config
    .command('apply')
    .description('Apply the configuration file that "start" was given, without a restart')
    .option('--draft <sink>', 'first write the draft of this sink into that file')
    .option('--yes', 'skip the confirmation, even if changes are sent to sinks or the mapping withholds more', false)
    .json()
    .examples('config apply', 'config apply --draft crm')
    .runs(applyConfig);
  addConfigHistory(config);
}

interface PlanConfigOptions extends JsonOption {
  /** Name of the sink whose draft is planned. */
  readonly draft?: string | undefined;
}

/**
 * `pigeonpost config plan`: shows how the file, or the file with a draft, differs from the running configuration, and the
 * deliveries that applying it would cause. Names the drafts that wait. Changes nothing. Exit 0, 2 for an invalid file, 4
 * without such a draft.
 */
export async function planConfig(context: Context, { json, draft }: PlanConfigOptions): Promise<ExitCode> {
  const own = draft === undefined ? undefined : sinkName(draft);
  const candidate = own === undefined ? await candidateAt(context.config) : { draft: own };
  const client = await clientOf(context);
  const plan = await planOf(client, candidate);
  const { drafts } = await client.get('/api/configuration/drafts', {});
  const others = drafts.filter(({ sink }) => sink !== own);
  return printResult(context.out, json, { ...plan, drafts }, [...formatPlan(plan), ...others.map(draftLine)]);
}

function sinkName(given: string): string {
  return given.replace(/^sink:/, '');
}

function draftLine({ sink, kind, savedBy, savedAt, conflict }: DraftView): string {
  const what = kind === 'mapping' ? `another mapping of sink ${sink}` : `the new sink ${sink}`;
  const next = conflict ?? `run "pigeonpost config plan --draft ${sink}" to see what it changes`;
  return `draft: ${what}, saved by ${shownInLine(savedBy)} on ${savedAt.slice(0, 10)}: ${next}`;
}

async function planOf(
  client: ApiClient,
  candidate: Partial<Candidate> & { readonly draft?: string },
): Promise<ConfigurationPlan> {
  return await client.post('/api/configuration/plan', { json: candidate });
}

interface ApplyConfigOptions extends PlanConfigOptions {
  readonly yes: boolean;
}

/**
 * `pigeonpost config apply`: makes the current content of the file that `start` was given the running configuration,
 * without a restart. Asks for confirmation if that sends changes to sinks, or if a mapping withholds more than before,
 * unless `--yes` is given. With `--draft`, pigeonpost first writes a draft into the file. Exit 0, also if nothing differs; 1 if the operator declines; 2 for an invalid file or without
 * a terminal. Exit codes 1 and 2 mean that nothing has changed.
 */
export async function applyConfig(context: Context, { json, yes, draft }: ApplyConfigOptions): Promise<ExitCode> {
  const { out } = context;
  const ofFile = draft === undefined && context.url === undefined; // with --url, the other machine's own file is applied
  const candidate: Partial<Candidate> = ofFile ? await candidateAt(context.config) : {};
  const client = await clientOf(context);
  const drafted = draft === undefined ? undefined : await draftOf(client, sinkName(draft));
  const plan = await planOf(client, drafted === undefined ? candidate : { draft: drafted.sink });
  const effects = effectsOf(plan);
  const wasShown = effects.length > 0 && !yes;
  if (wasShown) {
    for (const line of formatPlan(plan)) {
      if (json) out.note(line);
      else out.line(line);
    }
    const question = [
      drafted === undefined ? 'Apply the file?' : 'Write the draft into the file, and apply it?',
      ...effects,
    ];
    if (!(await confirm(out, question.join(' '), 'nothing was applied'))) return ExitCode.Failed;
  }
  const { file } = candidate;
  const applied =
    drafted === undefined
      ? await client.post('/api/configuration/apply', { json: file === undefined ? {} : { file } })
      : await client.post('/api/configuration/drafts/{sink}/apply', {
          params: { sink: drafted.sink },
          json: { version: drafted.version },
        });
  if (json) out.line(JSON.stringify(applied));
  else if (applied.changed) {
    if (!wasShown) for (const line of formatPlan(applied.plan)) out.line(line);
    out.line(`configuration ${applied.number} is current`);
  } else {
    out.line(`nothing has changed: configuration ${applied.number} is current`);
    out.note(
      'a ${NAME} keeps the value from the start of pigeonpost: restart to change it. ${file:/path} is read again',
    );
  }
  return ExitCode.Done;
}

async function draftOf(client: ApiClient, sink: string): Promise<DraftView> {
  const { drafts } = await client.get('/api/configuration/drafts', {});
  const found = drafts.find((each) => each.sink === sink);
  if (found !== undefined) return found;
  const message = `there is no draft of sink ${shownInLine(sink)}: "pigeonpost config plan" lists the drafts`;
  throw new CommandError(ExitCode.NotFound, message);
}

/** Returns a sentence for each effect that needs a confirmation. */
function effectsOf({ deliveries, withholding }: ConfigurationPlan): string[] {
  const sends = sentByPlan(deliveries);
  return [...(sends === null ? [] : [`This sends ${sends} to sinks.`]), ...withheldByPlan(withholding)];
}

/** Reads and validates the file. @throws {ConfigError} */
async function candidateAt(config: string): Promise<Candidate> {
  const { checkCommandFile } = await import('../../operations/load-process-config.js');
  await checkCommandFile(config);
  const file = resolve(config);
  return { file, text: await readFile(file, 'utf8') };
}

/** Formats a configuration's changes and the deliveries that they cause. Pure. */
export function formatPlan(plan: ConfigurationPlan): string[] {
  const lines = [
    ...plan.changes.flatMap(changeLines),
    ...plan.pigeonholes.map(selectionLine),
    ...plan.deliveries.map(deliveryLine),
    ...plan.withholding.map(withholdingLine),
    ...plan.kept.map(keptLine),
    ...(plan.atNextStart.length === 0 ? [] : [`at the next start: ${plan.atNextStart.join(', ')}`]),
  ];
  const changed = lines.length === 0 ? [`nothing changes: this is configuration ${plan.current}`] : lines;
  return [...changed, ...plan.warnings.map((warning) => `note: ${warning}`)];
}

function changeLines({ kind, what, name, keys, note }: ConfigurationChange): string[] {
  const head = `${kind}: ${what} ${name}${note === null ? '' : ` (${note})`}`;
  return [
    head,
    ...keys.map(({ key, from, to }) => `  ${key}${from === undefined ? ' changed' : `: ${from} becomes ${to}`}`),
  ];
}

/** Maximum number of IDs listed; the others are counted. */
const maxIds = 10;

function selectionLine({ sync, workspace, added, removed, unread }: SelectionChange): string {
  const parts = [
    ...(added.length === 0 ? [] : [`starts reading ${pigeonholes(added)}`]),
    ...(removed.length === 0 ? [] : [`no longer reads ${pigeonholes(removed)}`]),
    ...(unread === 0 ? [] : [`${unread} of the new ones not read yet`]),
  ];
  return `sync ${sync} (${workspace}): ${parts.join('; ')}`;
}

function pigeonholes(ids: readonly number[]): string {
  if (ids.length > maxIds) return `${ids.length} pigeonholes`;
  return `${ids.length === 1 ? 'pigeonhole' : 'pigeonholes'} ${ids.join(', ')}`;
}

function deliveryLine(caused: CausedDeliveries): string {
  const { sink, list, changes, observed, estimated } = caused;
  const verb = observed ? 'will count, without sending,' : 'will receive';
  const counts = [`${estimated ? 'about ' : ''}${counted(changes, singular(list), list)}`, ...unsentWords(caused)];
  return `sink ${sink} ${verb} ${counts.join(', ')} (${causedByWords(caused)})`;
}

function withholdingLine(each: WithheldItems): string {
  const { sink, problem } = each;
  return problem === null ? `sink ${sink}: the mapping ${withholdingWords(each)}` : `PROBLEM sink ${sink}: ${problem}`;
}

function keptLine({ sink, list, reason, items }: KeptItems): string {
  return `sink ${sink} keeps ${items} ${list} that it received, and no longer receives their changes (${reasonWords(reason)})`;
}
