import { z } from '@hono/zod-openapi';
import { instant } from '../../base/printable.js';
import { isMappingCause, type Trouble } from '../find-problems.js';
import { counted, formatInstant } from '../../base/words.js';
import { problemWords } from '../problems.js';
import type { PigeonholeView, SinkView } from '../status-view.js';

/** One check before an event begins. */
const readyCheckSchema = z
  .object({
    id: z.string().describe('Stable code for programs: `sessions`, or `sink:crm` for a check of each sink.'),
    label: z.string().describe('Subject of the check, in a few words.'),
    state: z
      .enum(['ok', 'warning', 'failed', 'unknown'])
      .describe(
        '`failed`: data will not flow as it should; `warning`: an operator should check it, it may be intended; `unknown`: it could not be checked.',
      ),
    says: z.string().describe('The result as a sentence.'),
    todo: z.string().optional().describe('What to do; absent if nothing has to be done.'),
  })
  .openapi('ReadyCheck');
export type ReadyCheck = z.infer<typeof readyCheckSchema>;

/** Returns one function for each state that the result of a check can have. */
export function checkOf(id: string, label: string) {
  const result =
    (state: ReadyCheck['state']) =>
    (says: string, todo?: string): ReadyCheck => ({ id, label, state, says, ...(todo === undefined ? {} : { todo }) });
  return { ok: result('ok'), warning: result('warning'), failed: result('failed'), unknown: result('unknown') };
}

/** Whether an event can begin, and the checks that decide it. */
export const readinessSchema = z
  .object({
    pigeonhole: z.object({
      workspace: z.string(),
      id: z.int(),
      name: z.string().nullable().describe('Name of the event; null, here and in the fields below: not known.'),
      status: z.string().nullable().describe('Status as the service reports it.'),
      startDate: z.string().nullable().describe('YYYY-MM-DD.'),
      endDate: z.string().nullable().describe('YYYY-MM-DD.'),
      timezone: z.string().nullable(),
    }),
    ready: z.boolean().describe('Whether every check could be made and none failed.'),
    asOf: instant().describe('When the checks were made. Requests at short intervals receive the same result.'),
    checks: z.array(readyCheckSchema).readonly(),
  })
  .openapi('Readiness');
export type Readiness = z.infer<typeof readinessSchema>;

/** Checks that go beyond the ledger's state: the service, the sinks, people, the quota. */
export type EventChecks = Pick<Readiness, 'checks'> & {
  readonly pigeonhole: Pick<Readiness['pigeonhole'], 'name' | 'status' | 'startDate' | 'endDate' | 'timezone'>;
};

/** Pure. */
export function isReady(checks: readonly ReadyCheck[]): boolean {
  return checks.every(({ state }) => state === 'ok' || state === 'warning');
}

export interface EventWork {
  readonly pigeonhole: Pick<PigeonholeView, 'id' | 'state' | 'freshAsOf' | 'goneAt' | 'heldDeletions'> & {
    readonly workspace: string;
    readonly syncs: readonly string[];
  };
  /** The sinks that receive something from the pigeonhole. */
  readonly sinks: readonly SinkView[];
  /** Problems of the process, the workspace, the pigeonhole and these sinks. */
  readonly troubles: readonly Trouble[];
  /** Changes of this pigeonhole that its sinks have refused. */
  readonly deadLetters: readonly { readonly sink: string; readonly cause: string; readonly changes: number }[];
}

/** Checks the state of work on a pigeonhole before its event starts. Pure. */
export function workChecks(work: EventWork): ReadyCheck[] {
  return [readingCheck(work), runningCheck(work), parkedCheck(work)];
}

function readingCheck({ pigeonhole, troubles }: EventWork): ReadyCheck {
  const about = checkOf('reading', 'Reading');
  const { workspace, id, syncs, goneAt, state, freshAsOf } = pigeonhole;
  const name = `${workspace}/${id}`;
  if (syncs.length === 0) {
    return about.failed(
      `no sync reads pigeonhole ${name}`,
      'name it in "pigeonholes" of a sync, then "pigeonpost config apply"',
    );
  }
  if (goneAt !== null) {
    return about.failed(`pigeonhole ${name} was deleted in the service (noticed at ${formatInstant(goneAt)})`);
  }
  const hindrance = troubles.find(({ code }) => code === 'pigeonhole-failing' || code === 'reading-late');
  if (hindrance !== undefined) {
    return about.failed(hindrance.title, '"pigeonpost status" shows the cause');
  }
  const by = `sync ${syncs.join(' and ')}`;
  if (state === 'backfilling' || freshAsOf === null) {
    return about.warning(`${by} is still reading it for the first time`, 'run the check again in a few minutes');
  }
  return about.ok(`${by} reads it; the oldest read of its lists ended at ${formatInstant(freshAsOf)}`);
}

const stops = {
  'process-failing': 'failed',
  'service-down': 'failed',
  'workspace-paused': 'failed',
  'quota-used-up': 'failed',
  'pigeonhole-paused': 'failed',
  'sink-paused': 'failed',
  'sink-failing': 'failed',
  'sink-withholding': 'failed',
  'workspace-waiting': 'warning',
  'quota-short': 'warning',
  'sink-behind': 'warning',
  'sink-observing': 'warning',
} as const satisfies Partial<Record<Trouble['code'], ReadyCheck['state']>>;

function runningCheck({ troubles, sinks }: EventWork): ReadyCheck {
  const about = checkOf('running', 'Running');
  const found = troubles.filter((trouble): trouble is Trouble & { code: keyof typeof stops } => trouble.code in stops);
  if (found.length === 0) {
    return about.ok(`nothing is paused: reading and ${counted(sinks.length, 'sink')} are running`);
  }
  const actions = found.flatMap(({ help }) => help?.action ?? []);
  const todo = actions.map(({ do: verb, kind, name }) =>
    verb === 'approve' ? `pigeonpost sink approve ${name}` : `pigeonpost ${verb} ${kind}:${name}`,
  );
  const result = found.some(({ code }) => stops[code] === 'failed') ? about.failed : about.warning;
  const says = found.map(({ title }) => title).join('; ');
  return result(says, todo.length === 0 ? undefined : [...new Set(todo)].join('; '));
}

function parkedCheck({ pigeonhole, deadLetters }: EventWork): ReadyCheck {
  const about = checkOf('parked', 'Decisions');
  const { heldDeletions } = pigeonhole;
  const sinks = [...new Set(deadLetters.map(({ sink }) => sink))];
  const found = sinks.map((sink) => ({
    says: problemWords('dead-letters', sink, countLetters(deadLetters.filter((each) => each.sink === sink))).title,
    todo: `pigeonpost dead-letters show --sink ${sink}`,
  }));
  if (heldDeletions > 0) {
    const says = `${counted(heldDeletions, 'deletion')} ${heldDeletions === 1 ? 'waits' : 'wait'} for an operator`;
    found.push({ says, todo: 'pigeonpost deletions list' });
  }
  if (found.length === 0) return about.ok('no dead letters, and no deletions that wait for an operator');
  return about.failed(found.map(({ says }) => says).join('; '), found.map(({ todo }) => todo).join('; '));
}

function countLetters(letters: EventWork['deadLetters']): { letters: number; mapping: number } {
  const total = (own: EventWork['deadLetters']): number => own.reduce((sum, { changes }) => sum + changes, 0);
  return { letters: total(letters), mapping: total(letters.filter(({ cause }) => isMappingCause(cause))) };
}
