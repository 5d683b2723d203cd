import { isMappingCause, type Trouble } from '../find-problems.js';
import { counted } from '../../base/words.js';
import { problemWords } from '../problems.js';
import type { ReadyCheck } from './readiness.js';
import type { PigeonholeView, SinkView } from '../status-view.js';

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
  const about = { id: 'reading', label: 'Reading' };
  const { workspace, id, syncs, goneAt, state, freshAsOf } = pigeonhole;
  const name = `${workspace}/${id}`;
  if (syncs.length === 0) {
    return {
      ...about,
      state: 'failed',
      says: `no sync reads pigeonhole ${name}`,
      todo: 'name it in "pigeonholes" of a sync, then "pigeonpost config apply"',
    };
  }
  if (goneAt !== null) {
    return {
      ...about,
      state: 'failed',
      says: `pigeonhole ${name} was deleted in the service (noticed at ${goneAt})`,
    };
  }
  const hindrance = troubles.find(({ code }) => code === 'pigeonhole-failing' || code === 'reading-late');
  if (hindrance !== undefined) {
    return { ...about, state: 'failed', says: hindrance.title, todo: '"pigeonpost status" shows the cause' };
  }
  const by = `sync ${syncs.join(' and ')}`;
  if (state === 'backfilling' || freshAsOf === null) {
    return {
      ...about,
      state: 'warning',
      says: `${by} is still reading it for the first time`,
      todo: 'run the check again in a few minutes',
    };
  }
  return { ...about, state: 'ok', says: `${by} reads it; the oldest read of its lists ended at ${freshAsOf}` };
}

const stops = {
  'process-failing': 'failed',
  'service-down': 'failed',
  'workspace-paused': 'failed',
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
  const about = { id: 'running', label: 'Running' };
  const found = troubles.filter((trouble): trouble is Trouble & { code: keyof typeof stops } => trouble.code in stops);
  if (found.length === 0) {
    return {
      ...about,
      state: 'ok',
      says: `nothing is paused: reading and ${counted(sinks.length, 'sink')} are running`,
    };
  }
  const actions = found.flatMap(({ help }) => help?.action ?? []);
  const todo = actions.map(({ do: verb, kind, name }) =>
    verb === 'approve' ? `pigeonpost sink approve ${name}` : `pigeonpost ${verb} ${kind}:${name}`,
  );
  return {
    ...about,
    state: found.some(({ code }) => stops[code] === 'failed') ? 'failed' : 'warning',
    says: found.map(({ title }) => title).join('; '),
    ...(todo.length === 0 ? {} : { todo: [...new Set(todo)].join('; ') }),
  };
}

function parkedCheck({ pigeonhole, deadLetters }: EventWork): ReadyCheck {
  const about = { id: 'parked', label: 'Decisions' };
  const { heldDeletions } = pigeonhole;
  const sinks = [...new Set(deadLetters.map(({ sink }) => sink))];
  const found = [
    ...sinks.map((sink) => ({
      says: problemWords('dead-letters', sink, countLetters(deadLetters.filter((each) => each.sink === sink))).title,
      todo: `pigeonpost dead-letters show --sink ${sink}`,
    })),
    ...(heldDeletions === 0
      ? []
      : [
          {
            says: `${counted(heldDeletions, 'deletion')} ${heldDeletions === 1 ? 'waits' : 'wait'} for an operator`,
            todo: 'pigeonpost deletions list',
          },
        ]),
  ];
  if (found.length === 0)
    return { ...about, state: 'ok', says: 'no dead letters, and no deletions that wait for an operator' };
  return {
    ...about,
    state: 'failed',
    says: found.map(({ says }) => says).join('; '),
    todo: found.map(({ todo }) => todo).join('; '),
  };
}

function countLetters(letters: EventWork['deadLetters']): { letters: number; mapping: number } {
  const total = (own: EventWork['deadLetters']): number => own.reduce((sum, { changes }) => sum + changes, 0);
  return { letters: total(letters), mapping: total(letters.filter(({ cause }) => isMappingCause(cause))) };
}
