import fc from 'fast-check';
import type { Change } from '../../../sinks/change.js';
import type { Outcome } from '../../../sinks/sink.js';
import { operationsFor } from '../../../sinks/plan-of.test-kit.js';
import { type Declaring, withDeclaredCodes } from './declared-codes.js';
import { Courier, type Destination, type Fault, type Received } from './destination.js';
import { anyChange, PERSONAL_DATA, storyOf, throughJson } from './generated-changes.js';

export interface SinkHarness<D extends Destination> {
  /** The type of the sink. Each of its plans and outcomes must have only codes that the type declares. */
  readonly type: Declaring;
  start(): Promise<D>;
  readonly faults: readonly Fault<D>[];
}

/**
 * Tests the contract of `sinks/sink.ts` that the delivery engine relies on. Each sink provides a destination on this
 * machine and the failures of that destination, and must pass all of these tests.
 */
export function describeSink<D extends Destination>(name: string, harness: SinkHarness<D>): void {
  describe(`the ${name} sink`, () => {
    let destination: D;
    beforeEach(async () => {
      const started = await harness.start();
      destination = Object.assign(started, { sink: withDeclaredCodes(harness.type, started.sink) });
    });
    afterEach(() => destination.close());

    describe('plans', () => {
      it('every change, in order, as plain data, the same each time and without touching it', async () => {
        await fc.assert(
          fc.asyncProperty(fc.array(anyChange, { maxLength: 20 }), async (changes) => {
            const before = JSON.stringify(changes);
            changes.forEach(deepFreeze);
            const operations = await operationsFor(destination.sink, changes);
            expect(operations.map(({ changeId }) => changeId)).toEqual(changes.map(({ id }) => id));
            expect(JSON.stringify(await operationsFor(destination.sink, changes))).toBe(JSON.stringify(operations));
            expect(throughJson(operations)).toEqual(operations);
            expect(JSON.stringify(changes)).toBe(before);
          }),
        );
      });

      it('a change alone as it does together with others', async () => {
        await fc.assert(
          fc.asyncProperty(fc.array(anyChange, { maxLength: 10 }), async (changes) => {
            const alone = await Promise.all(changes.map((change) => operationsFor(destination.sink, [change])));
            expect(alone.flat()).toEqual(await operationsFor(destination.sink, changes));
          }),
        );
      });

      it('data that is nested a thousand levels deep', async () => {
        let data: Record<string, unknown> = {};
        for (let level = 0; level < 1_000; level += 1) data = { data };
        expect(
          await operationsFor(destination.sink, [{ ...storyOf({ items: 1, revisions: 1 })[0]!, data }]),
        ).toHaveLength(1);
      });
    });

    describe('sends', () => {
      it('nothing for an empty batch', async () => {
        const courier = new Courier(destination.sink, []);
        expect((await destination.sink.send([], courier.lane, new AbortController().signal)).outcomes).toEqual([]);
        expect(await destination.received()).toEqual([]);
      });

      it('any change so that it arrives unchanged', async () => {
        const sent: Change[] = [];
        const courier = new Courier(destination.sink, []);
        await fc.assert(
          fc.asyncProperty(fc.uniqueArray(anyChange, { maxLength: 20, selector: ({ id }) => id }), async (changes) => {
            const known = new Set(sent.map(({ id }) => id));
            const fresh = changes.filter(({ id }) => !known.has(id));
            courier.add(fresh);
            const outcomes = await courier.sendOnce();
            expect(outcomes.map(({ kind }) => kind)).toEqual(fresh.map(() => 'delivered'));
            sent.push(...fresh);
          }),
          { numRuns: 20 },
        );
        expect(byId(await destination.received())).toEqual(byId(sent.map((change) => ({ change, bytes: '' }))));
      });

      it('a full batch in order within each item', async () => {
        const changes = storyOf({ items: 7, revisions: 20 });
        await new Courier(destination.sink, changes).sendAll();
        const received = await destination.received();
        expect(received).toHaveLength(changes.length);
        expect(revisionsByItem(received)).toEqual(revisionsByItem(changes.map((change) => ({ change, bytes: '' }))));
      });

      it('nothing after it was stopped', async () => {
        const courier = new Courier(destination.sink, storyOf({ items: 3, revisions: 2 }));
        const outcomes = await courier.sendOnce(AbortSignal.abort());
        expect(outcomes.map(({ kind }) => kind)).toEqual(Array.from({ length: 6 }, () => 'unsent'));
        expect(await destination.received()).toEqual([]);
      });

      it('no operation that it reports as unsent, even if it is stopped midway', async () => {
        const courier = new Courier(destination.sink, storyOf({ items: 20, revisions: 3 }));
        const operations = await courier.nextBatch();
        const stop = new AbortController();
        const sending = courier.sendOnce(stop.signal);
        setImmediate(() => stop.abort());
        const outcomes = await sending;
        expect(outcomes).toHaveLength(operations.length);
        const unsent = operations.filter((_, position) => outcomes[position]?.kind === 'unsent');
        const arrived = new Set((await destination.received()).map(({ change }) => change.id));
        expect(unsent.filter(({ changeId }) => arrived.has(changeId))).toEqual([]);
      });
    });

    describe.each(harness.faults)('whose destination $name', (fault) => {
      it('gives an outcome for each operation, and reports none as delivered that did not arrive', async () => {
        const courier = new Courier(destination.sink, storyOf({ items: 5, revisions: 4 }));
        const operations = await courier.nextBatch();
        await fault.begin(destination);
        const outcomes = await courier.sendOnce();
        await fault.repair(destination);
        expect(outcomes).toHaveLength(operations.length);
        expect(outcomes.some(({ kind }) => kind === 'retry' || kind === 'pause' || kind === 'unknown')).toBe(true);
        const delivered = operations.filter((_, position) => outcomes[position]?.kind === 'delivered');
        const arrived = new Set((await destination.received()).map(({ change }) => change.id));
        expect(delivered.filter(({ changeId }) => !arrived.has(changeId))).toEqual([]);
      });

      it('delivers everything in order after the repair, and nothing in two forms', async () => {
        const story = storyOf({ items: 5, revisions: 8 });
        const courier = new Courier(destination.sink, story.slice(0, 10));
        await courier.sendAll();
        courier.add(story.slice(10));
        await fault.begin(destination);
        await courier.sendOnce();
        await courier.sendOnce();
        await fault.repair(destination);
        await courier.sendAll();
        expectOnceInOrder(await destination.received(), story, destination);
      });

      it('says in its outcomes and checks no secret and nothing personal', async () => {
        await fault.begin(destination);
        const outcomes = await new Courier(destination.sink, storyOf({ items: 5, revisions: 2 })).sendOnce();
        const lines = await destination.sink.check(new AbortController().signal);
        await fault.repair(destination);
        const said = JSON.stringify([outcomes, lines]);
        expect([...destination.secrets, ...PERSONAL_DATA].filter((text) => said.includes(text))).toEqual([]);
        expect(outcomes.map(sentenceOf).filter((detail) => detail.length > 300 || detail.includes('\n'))).toEqual([]);
      });
    });

    describe('after an attempt that died before its outcomes were committed', () => {
      it('has delivered everything in order, and nothing in two forms', async () => {
        const story = storyOf({ items: 5, revisions: 8 });
        const courier = new Courier(destination.sink, story);
        await courier.sendAndDie();
        await courier.sendAndDie(AbortSignal.abort());
        await courier.sendAll();
        expectOnceInOrder(await destination.received(), story, destination);
      });
    });

    it('leaves nothing behind when it checks', async () => {
      const lines = await destination.sink.check(new AbortController().signal);
      expect(lines.map(({ ok }) => ok)).not.toContain(false);
      expect(await destination.received()).toEqual([]);
    });
  });
}

function expectOnceInOrder(received: readonly Received[], expected: readonly Change[], { sink }: Destination): void {
  const forms = new Map<string, Set<string>>();
  for (const { change, bytes } of received) forms.set(change.id, (forms.get(change.id) ?? new Set()).add(bytes));
  expect([...forms.values()].filter((bytes) => bytes.size !== 1)).toEqual([]);
  const first = received.filter(
    ({ change }, at) => received.findIndex((other) => other.change.id === change.id) === at,
  );
  expect(revisionsByItem(first)).toEqual(revisionsByItem(expected.map((change) => ({ change, bytes: '' }))));
  if (sink.traits.repeats === 'lookUp') expect(received).toHaveLength(expected.length);
}

function revisionsByItem(received: readonly Received[]): Record<string, number[]> {
  const revisions: Record<string, number[]> = {};
  for (const { change } of received) (revisions[`${change.list} ${change.key}`] ??= []).push(change.revision);
  return revisions;
}

function byId(received: readonly Received[]): Record<string, Change> {
  return Object.fromEntries(received.map(({ change }) => [change.id, throughJson(change)]));
}

function sentenceOf(outcome: Outcome): string {
  return 'detail' in outcome ? (outcome.detail ?? '') : '';
}

function deepFreeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  Object.values(value).forEach(deepFreeze);
}
