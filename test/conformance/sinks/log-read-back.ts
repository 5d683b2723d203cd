import fc from 'fast-check';
import type { Change } from '../../../sinks/change.js';
import { operationsFor, subjectOf } from '../../../sinks/plan-of.test-kit.js';
import type { ExtraHeld, HeldResult, Lane, Operation, ReadBack, Sink } from '../../../sinks/sink.js';
import { laneOf } from '../../../sinks/sink-environment.test-kit.js';
import { anyChange, PERSONAL_DATA, storyOf } from './generated-changes.js';

/** A log for one test, with a sink that writes to it on the lane acme / 101. */
export interface LogDestination {
  readonly sink: Sink;
  /** Returns all lines, those of one list and day in order. */
  lines(): string[];
  /**
   * Edits the log as a person with access to it would, behind the back of the sink.
   * @param edit returns the lines that take the place of a line
   */
  edit(edit: (line: string) => readonly string[]): void;
  close(): Promise<void>;
}

/**
 * Tests that a sink which keeps every revision in a log reads it back: it finds every planted difference, invents none,
 * and repairs exactly these.
 */
export function describeLogReadBack(name: string, start: () => Promise<LogDestination>): void {
  describe(`the log of the ${name} sink, read back`, () => {
    const signal = new AbortController().signal;
    let log: LogDestination;
    let memory: Record<string, unknown>;
    beforeEach(async () => {
      log = await start();
      memory = {};
    });
    afterEach(() => log.close());

    const lane = (): Lane => laneOf(memory);

    async function send(changes: readonly Change[]): Promise<void> {
      const { batchSize } = log.sink.traits;
      for (let at = 0; at < changes.length; at += batchSize) {
        const operations = await operationsFor(log.sink, changes.slice(at, at + batchSize));
        const result = await log.sink.send(operations, lane(), signal);
        expect(result.outcomes.filter(({ kind }) => kind !== 'delivered')).toEqual([]);
        Object.assign(memory, result.memory);
      }
    }

    async function wantedOf(
      changes: readonly Change[],
      expectedOf: (change: Change) => ReadBack['expected'] = () => 'content',
    ): Promise<ReadBack[]> {
      const planned = await log.sink.plan(changes.map((change) => subjectOf(change, { again: true })));
      return changes.map((change, at) => {
        const expected = expectedOf(change);
        const plan = planned[at]!;
        const operation: Operation | null = expected === 'content' && plan.kind === 'send' ? plan.operation : null;
        return { change, expected, operation, object: null, removal: expected === 'absence' ? 'erased' : null };
      });
    }

    async function readBack(wanted: readonly ReadBack[]): Promise<HeldResult[]> {
      const { batchSize } = log.sink.traits;
      const results: HeldResult[] = [];
      for (let at = 0; at < wanted.length; at += batchSize)
        results.push(...(await log.sink.readBack!(wanted.slice(at, at + batchSize), lane(), signal)));
      return results;
    }

    /** Returns the differences as an audit sees them, by list, key and revision. */
    async function differences(wanted: readonly ReadBack[]): Promise<Record<string, unknown>> {
      const results = await readBack(wanted);
      const found = wanted.map(({ change, expected, operation }, at) => {
        const result = results[at]!;
        const copies = 'copies' in result && result.copies !== undefined ? [`${result.copies.length} copies`] : [];
        const own =
          result.kind === 'held'
            ? expected === 'absence'
              ? ['extra']
              : operation === null
                ? []
                : log.sink.compareHeld!(operation, result.held)
            : result.kind === 'missing' && expected === 'absence'
              ? []
              : [result.kind];
        return [`${change.list} ${change.key} ${change.revision}`, [...own, ...copies]] as const;
      });
      return Object.fromEntries(found.filter(([, names]) => names.length > 0));
    }

    it('differs in nothing from what was sent, whatever the texts', async () => {
      const sent = new Map<string, Change>();
      await fc.assert(
        fc.asyncProperty(fc.array(anyChange, { maxLength: 20 }), async (changes) => {
          const fresh = new Map(
            changes.map((change) => [JSON.stringify([change.list, change.key, change.revision]), change]),
          );
          for (const [revision, change] of fresh) {
            if (sent.has(revision)) fresh.delete(revision);
            else sent.set(revision, change);
          }
          await send([...fresh.values()]);
        }),
        { numRuns: 20 },
      );
      expect(await differences(await wantedOf([...sent.values()]))).toEqual({});
    });

    it('shows every planted difference among 10,000 revisions and no other, and a repair leaves none', async () => {
      const story = storyOf({ items: 500, revisions: 20 });
      await send(story);
      const wanted = await wantedOf(story, ({ key, revision }) =>
        key === 'k321' ? 'absence' : key === 'k322' && revision < 20 ? 'presence' : 'content',
      );
      const edits: Record<string, (line: string, change: Change) => readonly string[]> = {
        'k7 3': () => [],
        'k8 20': () => [],
        'k11 1': (_, change) => [JSON.stringify({ ...change, data: { ...change.data, text: 'edited' } })],
        'k12 5': (line) => [line, line],
        // one revision behind
        'k13 20': (_, change) => [JSON.stringify({ ...change, data: { ...change.data, text: 'revision 19 é 🎈\n' } })],
        'k14 9': (line) => [line.slice(0, line.length / 2)],
        'k322 4': () => [],
        // written in another form, but with the same content
        'k15 6': (_, change) => [JSON.stringify(Object.fromEntries(Object.entries(change).toReversed()))],
      };
      log.edit((line) => {
        const change = JSON.parse(line) as Change;
        if (change.key === 'k321') return change.revision === 17 ? [line] : []; // all but one were erased
        return edits[`${change.key} ${change.revision}`]?.(line, change) ?? [line];
      });
      const planted = {
        'votes k321 17': ['extra'],
        'answer_ratings k7 3': ['missing'],
        'poll-mcq-votes k8 20': ['missing'],
        'votes k11 1': ['data.text'],
        'answer_ratings k12 5': ['1 copies'],
        'poll-mcq-votes k13 20': ['data.text'],
        'attendees k14 9': ['missing'],
        'answer_ratings k322 4': ['missing'],
      };
      expect(await differences(wanted)).toEqual(planted);

      const before = log.lines();
      expect(await log.sink.acceptHeld!(lane(), signal)).toEqual({ kind: 'delivered' });
      const results = await readBack(wanted);
      const extras = wanted.flatMap((entry, at): ExtraHeld[] => {
        const result = results[at]!;
        const copies = 'copies' in result ? (result.copies ?? []) : [];
        const isExtra = entry.expected === 'absence' && result.kind === 'held';
        return isExtra || copies.length > 0 ? [{ ...entry, copies }] : [];
      });
      expect(await log.sink.removeHeld!(extras, lane(), signal)).toEqual(extras.map(() => ({ kind: 'delivered' })));
      const resent = story.filter(
        ({ list, key, revision }) => `${list} ${key} ${revision}` in planted && !['k321', 'k12'].includes(key), // without data to send again
      );
      await send(resent.map((change) => ({ ...change, id: `replay of ${change.id}`, replay: 'repair-1' })));
      expect(await differences(wanted)).toEqual({});

      const replays = log.lines().filter((line) => line.includes('"replay":"repair-1"'));
      expect(replays).toHaveLength(resent.length);
      const isRemoved = (line: string): boolean => line.includes('"key":"k321"');
      const untouched = [...new Set(before)].filter((line) => !isRemoved(line));
      expect(log.lines().filter((line) => !line.includes('"replay":'))).toEqual(untouched);
      expect(await log.sink.removeHeld!(extras, lane(), signal)).toEqual(extras.map(() => ({ kind: 'delivered' })));
      await send(storyOf({ items: 501, revisions: 20 }).filter(({ key }) => key === 'k500'));
    });

    it('names fields, and never what they contain', async () => {
      const story = storyOf({ items: 3, revisions: 1 });
      await send(story);
      log.edit((line) => {
        const change = JSON.parse(line) as Change;
        return [
          JSON.stringify({
            ...change,
            sessionId: 7,
            'by Grace': 1,
            data: { ...change.data, Name: 'Grace', 'of Grace': 1 },
          }),
        ];
      });
      expect(await differences(await wantedOf(story))).toEqual(
        Object.fromEntries(
          story.map(({ list, key }) => [`${list} ${key} 1`, ['sessionId', 'line', 'data.Name', 'data']]),
        ),
      );
      expect(PERSONAL_DATA.filter((text) => JSON.stringify(story).includes(text))).toEqual(PERSONAL_DATA);
    });

    it('is read again later if the audit is stopped', async () => {
      const story = storyOf({ items: 3, revisions: 1 });
      await send(story);
      const results = await log.sink.readBack!(await wantedOf(story), lane(), AbortSignal.abort());
      expect(results.map(({ kind }) => kind)).toEqual(story.map(() => 'retry'));
    });
  });
}
