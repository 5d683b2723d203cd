import fc from 'fast-check';
import { type PigeonholeListName, pigeonholeLists } from '../../base/lists.js';
import { listFacts } from '../kit/list-facts.js';
import { type Fault, type Glitch, glitches } from './model/fault.js';
import type { Mutation } from './model/mutation.js';
import type { WorldShape } from './model/world.js';
import { anyShape, mutationOf, startOf } from './script.js';

/** An event at the n-th request for a page of the history's list in a step. */
export interface Event {
  readonly request: number;
  readonly happen: Mutation | Fault | Glitch;
}

/** The time until the next reads, what happens meanwhile, and the reads. */
export interface HistoryStep {
  readonly passMs: number;
  readonly before: readonly Mutation[];
  /** The request of an operator before the reads. */
  readonly asked: 'nothing' | 'poll' | 'sweep';
  readonly during: readonly Event[];
  /**
   * How the reads end. `stays`: the reader is kept. `beat`: and stores its progress. `ends`: it ends, and another one
   * takes over; `stopAt`: at a request. `dies`: its process dies at a request.
   */
  readonly end:
    | { readonly kind: 'stays' | 'beat' | 'ends' }
    | { readonly kind: 'stopped' | 'dies'; readonly at: number };
}

/**
 * A history of a service and of the processes that read one of its lists, and the lists that this one depends on. What
 * happens during a read concerns only that list, so the order in which other lists are requested changes nothing.
 */
export interface History {
  readonly shape: WorldShape;
  readonly list: PigeonholeListName;
  readonly start: readonly Mutation[];
  readonly steps: readonly HistoryStep[];
}

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

const ofSessions: ReadonlySet<string> = new Set(['insert', 'delete', 'reinsert']);
const ofSeveralLists: ReadonlySet<string> = new Set(['delete-session', 'page-size', 'repeat', 'consent', 'anonymity']);

const listFaults: readonly Fault[] = [
  'transient',
  'cursor refused',
  'cursor refused',
  'cursor not found',
  'not found, without a code',
  'pigeonhole not found',
];

/** Streams of several sessions are read in any order, so there is one session. */
function changesStreams(list: PigeonholeListName, { op, list: changed }: Mutation): boolean {
  return listFacts[list].needsSession && (op === 'delete-session' || (changed === 'sessions' && ofSessions.has(op)));
}

function isOfList(list: PigeonholeListName, { op, list: changed }: Mutation): boolean {
  return changed === list && !ofSeveralLists.has(op) && !(list === 'sessions' && op === 'delete');
}

function stepOf(list: PigeonholeListName): fc.Arbitrary<HistoryStep> {
  const request = fc.integer({ min: 1, max: 12 });
  const mutation = mutationOf([list])
    .map((each) => ('young' in each ? { ...each, young: false } : each))
    .filter((each) => !changesStreams(list, each));
  const event = fc.oneof(
    { weight: 6, arbitrary: mutation.filter((each) => isOfList(list, each)) },
    { weight: 2, arbitrary: fc.constantFrom(...listFaults) },
    { weight: 1, arbitrary: fc.constantFrom(...glitches) },
  );
  const kind = <const Kind extends string>(name: Kind): fc.Arbitrary<{ kind: Kind }> => fc.constant({ kind: name });
  return fc.record({
    passMs: fc.oneof(
      { weight: 12, arbitrary: fc.constantFrom(second, 6 * second) },
      { weight: 2, arbitrary: fc.constant(minute) },
      { weight: 2, arbitrary: fc.constant(31 * minute) },
      { weight: 1, arbitrary: fc.constantFrom(6 * hour + minute, 25 * hour) },
    ),
    before: fc.oneof(
      { weight: 5, arbitrary: fc.constant([]) },
      { weight: 1, arbitrary: fc.array(mutation, { minLength: 1, maxLength: 3, size: 'max' }) },
    ),
    asked: fc.oneof(
      { weight: 10, arbitrary: fc.constant('nothing' as const) },
      { weight: 1, arbitrary: fc.constantFrom('poll' as const, 'sweep' as const) },
    ),
    during: fc.oneof(
      { weight: 5, arbitrary: fc.constant([]) },
      { weight: 1, arbitrary: fc.array(fc.record({ request, happen: event }), { minLength: 1, maxLength: 4 }) },
    ),
    end: fc.oneof(
      { weight: 12, arbitrary: kind('stays') },
      { weight: 6, arbitrary: kind('beat') },
      { weight: 1, arbitrary: kind('ends') },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('stopped' as const), at: request }) },
    ),
  });
}

/** Any history of processes that end in order. */
export const anyHistory: fc.Arbitrary<History> = fc.constantFrom(...pigeonholeLists).chain((list) =>
  fc.record({
    shape: anyShape.map((shape) => ({ ...shape, pigeonholeIds: [101] })),
    list: fc.constant(list),
    start: startOf([list]).map((rows) => (listFacts[list].needsSession ? withOneSession(rows) : rows)),
    steps: fc.array(stepOf(list), { minLength: 10, maxLength: 40, size: 'max' }),
  }),
);

/** The same, but some processes die. */
export const anyDeadlyHistory: fc.Arbitrary<History> = anyHistory.chain((history) =>
  fc
    .array(fc.record({ step: fc.nat(history.steps.length - 1), at: fc.integer({ min: 1, max: 12 }) }), {
      minLength: 1,
      maxLength: 4,
    })
    .map((deaths) => ({
      ...history,
      steps: history.steps.map((step, index) => {
        const death = deaths.find((each) => each.step === index);
        return death === undefined ? step : { ...step, end: { kind: 'dies' as const, at: death.at } };
      }),
    })),
);

function withOneSession(rows: readonly Mutation[]): Mutation[] {
  const first = rows.findIndex(({ list }) => list === 'sessions');
  return rows.filter(({ list }, index) => list !== 'sessions' || index === first);
}
