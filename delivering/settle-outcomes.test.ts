import fc from 'fast-check';
import type { ShownChange } from './candidates.js';
import type { Outcome } from '../sinks/sink.js';
import { settleOutcomes } from './settle-outcomes.js';

const change = (sequence: number, attempts = 0): ShownChange => ({ sequence, attempts }) as ShownChange;
const delivered: Outcome = { kind: 'delivered' };
const rejected: Outcome = { kind: 'rejected', cause: 'http:422', detail: 'refused' };
const retry: Outcome = { kind: 'retry', detail: 'later' };
const unknown: Outcome = { kind: 'unknown', detail: 'who knows' };
const pause: Outcome = { kind: 'pause', cause: 'gone', detail: 'no more' };
const unsent: Outcome = { kind: 'unsent' };
const perItem = {
  failingForMs: 0,
  recordsAtFault: false,
  fewLeft: false,
  holdsAll: false,
  needsLookUp: false,
  fromLookUp: false,
};
const settle = (outcomes: readonly Outcome[], lane: Partial<typeof perItem> = {}, attempts: readonly number[] = []) =>
  settleOutcomes(
    outcomes.map((outcome, index) => ({ change: change(index + 1, attempts[index] ?? 0), outcome })),
    { ...perItem, ...lane },
    0.5,
  );
const states = (verdict: ReturnType<typeof settle>): string[] =>
  verdict.settled.map(({ state, attempts }) => `${state} ${attempts}`);

describe('the outcomes of a batch', () => {
  it('settle delivered and rejected records', () => {
    const verdict = settle([delivered, rejected]);
    expect(states(verdict)).toEqual(['delivered 1', 'dead 1']);
    expect(verdict).toMatchObject({ failing: null, pause: null, delivered: 1 });
    expect(verdict.settled[1]).toMatchObject({ reason: 'http:422', detail: 'refused' });
  });

  it('include the objects of the items and of their siblings', () => {
    const sent = [
      {
        change: { ...change(1), list: 'votes', key: 'a' },
        outcome: { ...delivered, object: { n: 1 }, siblings: { b: { n: 2 } } },
      },
    ];
    expect(settleOutcomes(sent, perItem, 0.5).settled).toMatchObject([
      {
        objects: [
          { list: 'votes', key: 'b', value: { n: 2 } },
          { list: 'votes', key: 'a', value: { n: 1 } },
        ],
      },
    ]);
  });

  it('keep records that are rejected while nothing passes, use none of their attempts, and make the lane wait', () => {
    const verdict = settle([rejected, rejected, unsent], {}, [0, 3]);
    expect(states(verdict)).toEqual(['retry 0', 'retry 3', 'waiting 0']);
    expect(verdict.failing).toEqual({ detail: 'refused; every change is refused', retryInMs: 1000 });
    expect(settle([rejected], { failingForMs: 3_600_000 }, [19])).toMatchObject({ settled: [{ state: 'retry' }] });
    expect(settle([rejected, retry]).failing).toMatchObject({ detail: 'later' }); // the sink is certainly at fault
    expect(settle([rejected, pause]).settled[0]).toMatchObject({ state: 'retry', attempts: 0 });
  });

  it('make a rejected record a dead letter if others have passed since, and keep the other rejected records', () => {
    const sent = [
      { change: { ...change(1), othersPassedSince: true }, outcome: rejected },
      { change: change(2), outcome: rejected },
    ];
    const verdict = settleOutcomes(sent, perItem, 0.5);
    expect(states(verdict)).toEqual(['dead 1', 'retry 0']);
    expect(verdict.failing).toMatchObject({ retryInMs: 1000 });
    expect(states(settle([rejected, rejected], { recordsAtFault: true }))).toEqual(['dead 1', 'dead 1']);
  });

  it.each([{}, { fewLeft: true }, { failingForMs: 60_000 }, { needsLookUp: true }])(
    'make a redriven record that is refused again a dead letter immediately, which says nothing about the sink: %j',
    (lane) => {
      const redriven = { change: { ...change(1), redriven: true }, outcome: rejected };
      const settled = (outcomes: readonly Outcome[]) =>
        settleOutcomes(
          [redriven, ...outcomes.map((outcome, index) => ({ change: change(index + 2), outcome }))],
          { ...perItem, ...lane },
          0.5,
        );
      const alone = settled([]);
      expect(alone.settled).toMatchObject([{ state: 'dead', reason: 'http:422', detail: 'refused', attempts: 1 }]);
      expect(alone).toMatchObject({ failing: undefined, delivered: 0 });
      const beside = settled([rejected]); // an ordinary record beside it is judged as without it
      expect(beside.settled[1]).toEqual({ ...settle([rejected], lane).settled[0], sequence: 2 });
      expect(beside.failing).toEqual(settle([rejected], lane).failing);
      const outage = settleOutcomes([{ ...redriven, outcome: retry }], { ...perItem, ...lane }, 0.5);
      expect(outage).toMatchObject({ settled: [{ state: 'retry', attempts: 0 }] });
      expect(outage.failing).toMatchObject({ detail: 'later' });
    },
  );

  it('count rejections against the records if only a few are left, and finally make them dead letters under their cause', () => {
    const few = { fewLeft: true };
    expect(settle([rejected, rejected], few, [0, 14])).toMatchObject({
      settled: [
        { state: 'retry', attempts: 1, retryInMs: 10_000 },
        { state: 'retry', attempts: 15, retryInMs: 300_000 },
      ],
      failing: undefined,
    });
    expect(settle([rejected], few, [15])).toMatchObject({
      settled: [{ state: 'dead', reason: 'http:422', attempts: 16 }],
      failing: null,
    });
    expect(settle([rejected, retry], few, [15]).failing).toMatchObject({ detail: 'later' });
  });

  it('make a record a dead letter immediately if the sink blames the record, which is no evidence against the sink', () => {
    const blamed: Outcome = { ...rejected, about: 'record' };
    expect(settle([blamed])).toMatchObject({ settled: [{ state: 'dead', reason: 'http:422' }], failing: undefined });
    expect(settle([blamed, retry]).failing).toMatchObject({ detail: 'later' });
    expect(states(settle([{ ...rejected, cause: 'outcome-unknown' }]))).toEqual(['dead 1']);
    expect(states(settle([rejected], { needsLookUp: true, fromLookUp: true }))).toEqual(['dead 1']);
    expect(states(settle([rejected], { holdsAll: true }))).toEqual(['dead 1']);
  });

  it('count against a record that fails while others pass, and only that record waits', () => {
    const verdict = settle([delivered, retry], {}, [0, 2]);
    expect(states(verdict)).toEqual(['delivered 1', 'retry 3']);
    expect(verdict.settled[1]!.retryInMs).toBe(40_000);
    expect(verdict.failing).toBeNull();
  });

  it('count against no record if nothing passes: the whole lane waits', () => {
    const verdict = settle([retry, retry, unsent], {}, [0, 3]);
    expect(states(verdict)).toEqual(['retry 0', 'retry 3', 'waiting 0']);
    expect(verdict.failing).toEqual({ detail: 'later', retryInMs: 1000 });
  });

  it('do not hold back a lane for records that failed while others succeeded, even if only they are left', () => {
    const verdict = settle([retry, retry], {}, [1, 2]);
    expect(states(verdict)).toEqual(['retry 2', 'retry 3']);
    expect(verdict.failing).toBeUndefined(); // this outcome says nothing about the lane
    const many = settle(
      Array.from({ length: 11 }, () => retry),
      {},
      Array.from({ length: 11 }, () => 1),
    );
    expect([many.settled[0]!.attempts, many.failing]).toEqual([1, { detail: 'later', retryInMs: 1000 }]);
  });

  it('count against a record that failed before if others have passed since', () => {
    const outcome = { change: { ...change(1), othersPassedSince: true }, outcome: retry };
    expect(settleOutcomes([outcome], perItem, 0.5)).toMatchObject({ settled: [{ attempts: 1 }], failing: undefined });
  });

  it.each([retry, pause])(
    'keep a change in flight if it could not be looked up, and count that against neither the record nor the sink',
    (outcome) => {
      const verdict = settle([outcome], { needsLookUp: true, fromLookUp: true }, [19]);
      expect(states(verdict)).toEqual(['sending 19']);
      expect(verdict.settled[0]!.retryInMs).toBe(60_000);
    },
  );

  it.each([retry, unknown])(
    'make no record a dead letter for its attempts while nothing passes on the lane',
    (outcome) => {
      expect(states(settle([outcome], { needsLookUp: true }, [19]))).toEqual(['dead 20']);
      expect(states(settle([outcome], { needsLookUp: true, failingForMs: 1000 }, [19]))[0]).toMatch(
        /^(retry|sending) 20$/,
      );
    },
  );

  it('count against a few records if only their lane fails, finally make them dead letters, but never count against many', () => {
    const alone = { failingForMs: 1000, recordsAtFault: true };
    expect(settle([retry], alone)).toMatchObject({ settled: [{ state: 'retry', attempts: 1 }], failing: undefined });
    expect(settle([retry, retry], alone, [19, 3])).toMatchObject({
      settled: [
        { state: 'dead', reason: 'attempts-exhausted' },
        { state: 'retry', attempts: 4 },
      ],
      failing: undefined,
    });
    expect(settle([retry, rejected], alone, [19])).toMatchObject({ failing: null }); // no failing record is left
    expect(settle([retry], alone, [19])).toMatchObject({ failing: null });
    const many = settle(
      Array.from({ length: 11 }, () => retry),
      alone,
    );
    expect([many.settled[0]!.attempts, many.failing?.detail]).toEqual([0, 'later']);
    expect(settle([retry], { ...alone, holdsAll: true }, [19]).settled[0]).toMatchObject({ attempts: 19 });
    expect(settle([pause], alone, [19]).settled[0]).toMatchObject({ state: 'waiting', attempts: 19 });
  });

  it('postpone changes that the sink postponed on purpose, and count that against neither the record nor the sink', () => {
    const verdict = settle([{ kind: 'unsent', afterMs: 10_000, detail: 'the key lacks a scope' }], {}, [3]);
    expect(states(verdict)).toEqual(['waiting 3']);
    expect(verdict.settled[0]).toMatchObject({ retryInMs: 10_000, detail: 'the key lacks a scope' });
    expect(verdict.failing).toBeUndefined();
  });

  it('end the failure of a lane when the destination answers and refuses only this kind of record', () => {
    const held: Outcome = { kind: 'unsent', afterMs: 10_000, detail: 'the key lacks a scope' };
    expect(settle([held, unsent], { failingForMs: 60_000 }).failing).toBeNull();
    expect(settle([held, retry], { failingForMs: 60_000 }).failing).toMatchObject({ detail: 'later' });
    expect(settle([unsent], { failingForMs: 60_000 }).failing).toBeUndefined(); // no request was made
  });

  it('store what the destination said with the delivery only, not as the failure of the lane', () => {
    const said = 'the field is too long';
    expect(settle([delivered, { ...rejected, answer: said }]).settled[1]).toMatchObject({
      state: 'dead',
      detail: `refused; it answered: ${said}`,
    });
    for (const outcome of [rejected, retry]) {
      const { failing, settled } = settle([{ ...outcome, answer: said }]);
      expect(settled[0]!.detail).toContain(said);
      expect(failing!.detail).not.toContain(said);
    }
  });

  it('make a record a dead letter after twenty attempts', () => {
    expect(settle([delivered, retry], {}, [0, 18]).settled[1]).toMatchObject({ state: 'retry', attempts: 19 });
    expect(settle([delivered, retry], {}, [0, 19]).settled[1]).toMatchObject({
      state: 'dead',
      reason: 'attempts-exhausted',
    });
  });

  it('let a lane that keeps one order wait behind its first failure, without using an attempt', () => {
    const verdict = settle([delivered, retry, unsent], { holdsAll: true }, [0, 19]);
    expect(states(verdict)).toEqual(['delivered 1', 'retry 19', 'waiting 0']);
    expect(verdict.failing).toEqual({ detail: 'later', retryInMs: 1000 });
  });

  it('make a lane wait for half the duration of its failure, at most 5 min, or as long as the destination requested', () => {
    const wait = (failingForMs: number, outcome: Outcome = retry) =>
      settle([outcome], { failingForMs }).failing!.retryInMs;
    expect([wait(0), wait(60_000), wait(3_600_000)]).toEqual([1000, 30_000, 300_000]);
    expect(wait(0, { ...retry, afterMs: 900_000 })).toBe(900_000);
  });

  it('keep a possibly sent change in flight if it must be looked up, and retry it if a repeat is harmless', () => {
    expect(states(settle([unknown], { needsLookUp: true, holdsAll: true }))).toEqual(['sending 0']);
    expect(settle([unknown, delivered], { needsLookUp: true }).settled[0]).toMatchObject({
      state: 'sending',
      retryInMs: 60_000,
    });
    expect(settle([unknown], { needsLookUp: true }, [19]).settled[0]).toMatchObject({
      state: 'dead',
      reason: 'outcome-unknown',
    });
    expect(states(settle([unknown]))).toEqual(['retry 0']);
  });

  it('that pause the sink blame no record that failed beside them', () => {
    const verdict = settle([retry, pause], {}, [3, 3]);
    expect(states(verdict)).toEqual(['retry 3', 'waiting 3']);
    expect(verdict.failing).toMatchObject({ detail: 'later' });
    expect(states(settle([retry, retry], {}, [3, 3]))).toEqual(['retry 4', 'retry 4']);
  });

  it('that pause the sink use no attempt and keep the backlog', () => {
    const verdict = settle([delivered, pause, unsent], {}, [0, 4]);
    expect(states(verdict)).toEqual(['delivered 1', 'waiting 4', 'waiting 0']);
    expect(verdict.pause).toBe(pause);
  });

  it('of changes that were not sent say nothing about the sink: no operation is withheld, a failed mapping is a dead letter', () => {
    const planned = [
      { kind: 'nothing', reason: 'condition' },
      { kind: 'unplannable', cause: 'mapping: crm: T0410', detail: 'failed' },
    ] as const;
    const verdict = settleOutcomes(
      planned.map((outcome, index) => ({ change: change(index + 1), outcome })),
      perItem,
      0.5,
    );
    expect(verdict.settled.map(({ state, reason }) => [state, reason])).toEqual([
      ['withheld', 'condition'],
      ['dead', 'mapping: crm: T0410'],
    ]);
    expect(verdict.failing).toBeUndefined();
    const beside = settleOutcomes(
      [...planned, retry].map((outcome, index) => ({ change: change(index + 1), outcome })),
      perItem,
      0.5,
    );
    expect(beside.failing).toMatchObject({ detail: 'later' });
  });

  it('say nothing about the sink if nothing was tried', () => {
    expect(settle([unsent, unsent]).failing).toBeUndefined();
    expect(settle([])).toEqual({ settled: [], failing: undefined, pause: null, delivered: 0 });
  });

  it('make no rejected record a dead letter while nothing passes, whatever other failures the batch has', () => {
    const outcomes = fc.array(
      fc.tuple(fc.constantFrom(rejected, retry, pause, unsent), fc.integer({ min: 0, max: 18 })),
      { minLength: 1, maxLength: 12 },
    );
    fc.assert(
      fc.property(outcomes, fc.boolean(), fc.nat(4 * 24 * 3_600_000), (sent, needsLookUp, failingForMs) => {
        const verdict = settle(
          sent.map(([outcome]) => outcome),
          { needsLookUp, failingForMs },
          sent.map(([, attempts]) => attempts),
        );
        expect(states(verdict).filter((state) => state.startsWith('dead'))).toEqual([]);
        const isRefused = sent.some(([outcome]) => outcome === rejected);
        if (isRefused) expect(verdict.failing).toMatchObject({ retryInMs: expect.any(Number) as number });
      }),
    );
  });

  it('settle every record once, lose no attempt, and make no record a dead letter because of an outage', () => {
    const outcomes = fc.array(
      fc.tuple(fc.constantFrom(delivered, rejected, retry, unknown, pause, unsent), fc.integer({ min: 0, max: 19 })),
      {
        maxLength: 12,
      },
    );
    fc.assert(
      fc.property(outcomes, fc.boolean(), fc.boolean(), fc.boolean(), (sent, holdsAll, needsLookUp, recordsAtFault) => {
        const verdict = settle(
          sent.map(([outcome]) => outcome),
          { holdsAll, needsLookUp, recordsAtFault },
          sent.map(([, attempts]) => attempts),
        );
        expect(verdict.settled.map(({ sequence }) => sequence)).toEqual(sent.map((_, index) => index + 1));
        const isFailing = verdict.failing !== null && verdict.failing !== undefined;
        for (const [index, { state, attempts, reason, retryInMs }] of verdict.settled.entries()) {
          const [outcome, before] = sent[index]!;
          expect(attempts - before).toBeGreaterThanOrEqual(0);
          expect(state === 'delivered').toBe(outcome.kind === 'delivered');
          const isKeptInFlight = needsLookUp && !holdsAll && outcome.kind === 'unknown';
          expect((retryInMs ?? 0) > 0).toBe(state === 'retry' || (isKeptInFlight && state === 'sending'));
          if (isFailing) expect(reason).not.toBe('attempts-exhausted');
          if (isFailing && !isKeptInFlight && outcome.kind !== 'delivered' && outcome.kind !== 'rejected')
            expect(attempts).toBe(before);
        }
      }),
    );
  });
});
