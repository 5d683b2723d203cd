import type { Lane, Operation, Outcome, Planned, Sink, Subject } from '../sinks/sink.js';
import { recoverSent } from './recover-batch.js';
import type { LeasedLane, Settlement } from './send-batch.js';

const held: LeasedLane = {
  lane: {} as Lane,
  signal: new AbortController().signal,
  confirm: () => undefined,
  isFailing: false,
};
const operation: Operation = { changeId: 'c' };
const condition: Planned = { kind: 'nothing', reason: 'condition' };
const failed: Planned = { kind: 'unplannable', cause: 'mapping: T0410', detail: 'the mapping failed' };
const lookUpPlan: Planned = { kind: 'send', operation };
const object = { ts: '1.2' };

/** Returns a sink with these results of `plan`, `planLookUp` and `recover`. */
function sinkThat(planned: Planned, lookUp: Planned | undefined, found: Outcome, repeats: 'lookUp' | 'harmless'): Sink {
  return {
    traits: { repeats },
    plan: (subjects: readonly Subject[]) => Promise.resolve(subjects.map(() => planned)),
    ...(lookUp !== undefined && {
      planLookUp: (subjects: readonly Subject[]) => Promise.resolve(subjects.map(() => lookUp)),
    }),
    recover: (operations: readonly Operation[]) => Promise.resolve({ outcomes: operations.map(() => found) }),
  } as unknown as Sink;
}

describe('a change that may have been sent and that the current mapping excludes', () => {
  it.each<[string, Planned, Planned | undefined, Outcome, Settlement]>([
    ['nothing was created', condition, lookUpPlan, { kind: 'unsent' }, condition],
    ['nothing was created, and its mapping fails', failed, lookUpPlan, { kind: 'unsent' }, failed],
    ['an object exists', condition, lookUpPlan, { kind: 'unsent', object }, { kind: 'unsent', object }],
    ['the change arrived', failed, lookUpPlan, { kind: 'delivered', object }, { kind: 'unsent', object }],
    [
      'its object was removed',
      condition,
      lookUpPlan,
      { kind: 'unsent', object: null },
      { kind: 'unsent', object: null },
    ],
    [
      'the outcome is still unknown',
      condition,
      lookUpPlan,
      { kind: 'unknown', detail: 'd' },
      { kind: 'unknown', detail: 'd' },
    ],
    ['the look-up failed', failed, lookUpPlan, { kind: 'retry', detail: 'd' }, { kind: 'retry', detail: 'd' }],
    ['no object can have been created', condition, condition, { kind: 'unsent' }, condition],
    [
      'the object cannot be looked up',
      condition,
      { kind: 'unplannable', cause: 'mapping: T1', detail: 'look by hand' },
      { kind: 'unsent' },
      { kind: 'rejected', cause: 'outcome-unknown', detail: 'look by hand' },
    ],
    ['the sink has no planLookUp', failed, undefined, { kind: 'unsent' }, failed],
  ])('is settled according to the look-up: %s', async (_, planned, lookUp, found, settled) => {
    const sink = sinkThat(planned, lookUp, found, 'lookUp');
    const { settlements } = await recoverSent(sink, [{} as Subject], held);
    expect(settlements).toEqual([settled]);
  });

  it('is planned again with what the destination may have, also if a repeat would be harmless', async () => {
    const sink = sinkThat(condition, lookUpPlan, { kind: 'unsent', object }, 'harmless');
    expect((await recoverSent(sink, [{} as Subject], held)).settlements).toEqual([{ kind: 'unsent', object }]);
  });

  it('leaves the order of the other changes in the batch unchanged', async () => {
    const plans = [lookUpPlan, condition, { kind: 'send', operation: { changeId: 'd' } } as const];
    const sink = {
      ...sinkThat(condition, lookUpPlan, { kind: 'unsent' }, 'lookUp'),
      plan: () => Promise.resolve(plans),
      recover: (operations: readonly Operation[]) =>
        Promise.resolve({
          outcomes: operations.map(({ changeId }, index) =>
            index === 1 ? { kind: 'unsent', object } : { kind: 'delivered', detail: changeId },
          ),
        }),
    } as unknown as Sink;
    const { settlements } = await recoverSent(
      sink,
      plans.map(() => ({}) as Subject),
      held,
    );
    expect(settlements).toEqual([
      { kind: 'delivered', detail: 'c' },
      { kind: 'unsent', object },
      { kind: 'delivered', detail: 'd' },
    ]);
  });
});
