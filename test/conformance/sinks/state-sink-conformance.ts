import type { Settlement } from '../../../delivering/send-batch.js';
import type { Outcome, Subject } from '../../../sinks/sink.js';
import { type Declaring, withDeclaredCodes } from './declared-codes.js';
import { PERSONAL_DATA } from './generated-changes.js';
import { StateCourier, type StateDestination } from './state-destination.js';

export interface StateSinkHarness<D extends StateDestination> {
  /** The type of the sink. Each of its plans and outcomes must have only codes that the type declares. */
  readonly type: Declaring;
  start(): Promise<D>;
  /** Returns items that need all kinds of calls, fewer than a batch, the same each time. */
  story(): readonly Subject[];
  /** Returns the same items after an edit. */
  edited(): readonly Subject[];
  /** Returns an item that the destination refuses because of its content. */
  poison(): Subject;
  /**
   * Adds records that existed before and that the sink finds for items of the story. Absent: the sink writes only objects
   * of its own.
   */
  readonly addExisting?: (destination: D) => void;
  /** Whether the sink finds its object again without the stored id. */
  isFoundAgain(subject: Subject): boolean;
  /** The wait that an overloaded destination requests, in ms. */
  readonly overloadAsksMs: number;
}

/**
 * Tests the contract of `sinks/sink.ts` for sinks that send the latest revision. Each sink provides a destination on
 * this machine that can fail, and must pass all of these tests.
 */
export function describeStateSink<D extends StateDestination>(name: string, harness: StateSinkHarness<D>): void {
  describe(`the ${name} sink`, () => {
    let destination: D;
    let courier: StateCourier;
    const begin = async (): Promise<void> => {
      destination = await harness.start();
      const open = destination.open.bind(destination);
      destination.open = () => withDeclaredCodes(harness.type, open());
      courier = new StateCourier(destination);
    };
    const end = async (): Promise<void> => {
      await courier.close();
      await destination.close();
    };
    beforeEach(begin);
    afterEach(end);

    /** Runs without failures and returns the final state and the number of requests. */
    async function inPeace(): Promise<{ state: unknown; requests: number }> {
      courier.add(harness.story());
      await courier.sendAll();
      const peace = { state: await destination.state(), requests: destination.requests() };
      await end();
      await begin();
      return peace;
    }

    it('plans plain data, the same each time, without touching what it is given', async () => {
      const sink = destination.open();
      const story = harness.story();
      const before = JSON.stringify(story);
      const planned = await sink.plan(story);
      expect(JSON.stringify(await sink.plan(story))).toBe(JSON.stringify(planned));
      expect(JSON.parse(JSON.stringify(planned))).toEqual(planned);
      expect(JSON.stringify(story)).toBe(before);
      expect(planned.map((each) => each.kind === 'send' && each.operation.changeId)).toEqual(
        story.map(({ change }) => change.id),
      );
      for (const secret of destination.secrets) expect(JSON.stringify(planned)).not.toContain(secret);
      expect(destination.requests()).toBe(0);
      await sink.close();
    });

    it.each(['answer-lost', 'never-arrives', 'error-after'] as const)(
      'has everything there once, whichever of its requests went wrong: %s',
      async (how) => {
        const { state, requests } = await inPeace();
        expect(requests).toBeGreaterThan(1);
        for (let number = 0; number < requests; number += 1) {
          destination.fail(how, number);
          courier.add(harness.story());
          await courier.sendAll();
          expect({ number, state: await destination.state() }).toEqual({ number, state });
          await end();
          await begin();
        }
      },
    );

    it('has everything there once after processes that died before they could commit', async () => {
      const { state } = await inPeace();
      courier.add(harness.story());
      await courier.sendAndDie();
      await courier.sendAll();
      expect(await destination.state()).toEqual(state);
    });

    it('changes nothing when another process, which knows nothing of what was made, sends the same', async () => {
      const { state } = await inPeace();
      courier.add(harness.story());
      await courier.sendAll();
      const other = new StateCourier(destination);
      other.add(harness.story().filter((subject) => harness.isFoundAgain(subject)));
      await other.sendAll();
      await other.close();
      expect(await destination.state()).toEqual(state);
    });

    describe.each([
      ['new records', () => undefined],
      ...(harness.addExisting === undefined ? [] : [['records that existed before', harness.addExisting] as const]),
    ] as const)('with %s', (_, prepare: (made: D) => void) => {
      const prepared = async (): Promise<void> => {
        await end();
        await begin();
        prepare(destination);
      };

      /** Forgets everyone of the story. @returns what is left at the destination, and of whom only an operator can remove it */
      async function forget(): Promise<{ left: readonly string[]; byHand: readonly Subject[] }> {
        const story = harness.story();
        const ends = await courier.forget(story);
        const byHand = story.filter((_subject, index) => isLeftToOperator(harness.type, ends[index]!));
        return { left: ((await destination.state()) as unknown[]).map((each) => JSON.stringify(each)), byHand };
      }

      /**
       * Forgets everyone of the story. @returns what is left although no operator has to remove it
       * @param peace what is left if nothing went wrong
       */
      async function leftUnnoticed({ before, after }: Peace): Promise<readonly string[]> {
        const usual = [...before, ...after];
        const { left, byHand } = await forget();
        const expected = [...usual];
        const more = left.filter((each) => {
          const at = expected.indexOf(each);
          if (at !== -1) expected.splice(at, 1);
          return at === -1;
        });
        const isAbout = (each: string, subjects: readonly Subject[]): boolean =>
          subjects.flatMap(textsOf).some((text) => each.toLowerCase().includes(text.toLowerCase()));
        const personal = more.filter((each) => isAbout(each, harness.story()) && !isAbout(each, byHand));
        // An object that names nobody, such as a membership, is left if there are more objects than usual.
        const isMore = byHand.length === 0 && left.length > after.length;
        return isMore ? more : personal;
      }

      interface Peace {
        readonly requests: number;
        /** The objects before the story, and after its people were forgotten although everything went well. */
        readonly before: readonly string[];
        readonly after: readonly string[];
      }

      async function inPeaceForgotten(): Promise<Peace> {
        await prepared();
        const before = ((await destination.state()) as unknown[]).map((each) => JSON.stringify(each));
        courier.add(harness.story());
        await courier.sendAll();
        const requests = destination.requests();
        return { requests, before, after: (await forget()).left };
      }

      it.each(['answer-lost', 'error-after'] as const)(
        'leaves nothing of people who are forgotten after one of its requests went wrong, or says who has to look: %s',
        async (how) => {
          const peace = await inPeaceForgotten();
          for (let number = 0; number < peace.requests; number += 1) {
            for (const isRepeated of [false, true]) {
              await prepared();
              destination.fail(how, number);
              courier.add(harness.story());
              await courier.sendOnce();
              if (isRepeated) await courier.sendAll();
              expect({ number, isRepeated, left: await leftUnnoticed(peace) }).toEqual({
                number,
                isRepeated,
                left: [],
              });
            }
          }
        },
      );

      it.each([false, true])(
        'leaves nothing of people who are forgotten after a process died, or says who has to look; sent again: %s',
        async (isRepeated) => {
          const peace = await inPeaceForgotten();
          await prepared();
          courier.add(harness.story());
          await courier.sendAndDie();
          if (isRepeated) await courier.sendAll();
          expect(await leftUnnoticed(peace)).toEqual([]);
        },
      );
    });

    it('brings an edit to what it made before', async () => {
      courier.add(harness.story());
      await courier.sendAll();
      const before = JSON.stringify(await destination.state());
      courier.add(harness.edited());
      await courier.sendAll();
      const edited = await destination.state();
      expect(JSON.stringify(edited)).not.toBe(before);
      expect((edited as readonly unknown[]).length).toBe((JSON.parse(before) as unknown[]).length);
    });

    it('delivers the others beside one that is refused, and names a cause that holds nothing of it', async () => {
      const poison = harness.poison();
      courier.add([...harness.story(), poison]);
      const outcomes = await courier.sendOnce();
      const refused = outcomes.at(-1)!;
      expect(refused).toMatchObject({ kind: 'rejected', cause: expect.stringMatching(/^[\w:.+-]+$/) as string });
      expect(outcomes.slice(0, -1).map(({ kind }) => kind)).toEqual(harness.story().map(() => 'delivered'));
      expectNothingPersonal(outcomes, destination);
    });

    it('sends nothing once it has been stopped', async () => {
      courier.add(harness.story());
      const outcomes = await courier.sendOnce(AbortSignal.abort());
      expect(outcomes.map(({ kind }) => kind)).toEqual(harness.story().map(() => 'unsent'));
      expect(destination.requests()).toBe(0);
    });

    it('pauses when its credential is refused, and continues with another one', async () => {
      destination.begin('auth');
      courier.add(harness.story());
      const outcomes = await courier.sendOnce();
      expect(outcomes[0]).toMatchObject({ kind: 'pause', cause: 'credential' });
      expect(outcomes.filter(({ kind }) => kind === 'delivered' || kind === 'rejected')).toEqual([]);
      destination.repair();
      await courier.sendAll();
      expect(await destination.state()).not.toEqual([]);
    });

    it('waits as long as an overloaded destination asks', async () => {
      destination.begin('overload');
      courier.add(harness.story());
      const outcomes = await courier.sendOnce();
      const waits = outcomes.flatMap((outcome) => (outcome.kind === 'retry' ? [outcome.afterMs] : []));
      expect(waits).toContain(harness.overloadAsksMs);
      expect(outcomes.filter(({ kind }) => kind === 'delivered' || kind === 'rejected')).toEqual([]);
    });

    it.each(['auth', 'overload', 'outage', 'cut'] as const)(
      'says nothing secret or personal while every request ends so: %s',
      async (refusal) => {
        destination.begin(refusal);
        courier.add(harness.story());
        const outcomes = await courier.sendOnce();
        expect(outcomes).toHaveLength(harness.story().length);
        expectNothingPersonal([...outcomes, ...(await courier.check())], destination);
      },
    );

    it('finds nothing missing when it checks, and leaves nothing behind', async () => {
      expect((await courier.check()).filter(({ ok }) => !ok)).toEqual([]);
      expect(await destination.state()).toEqual([]);
    });
  });
}

/** Whether an erasure tells an operator to remove the item by hand if its removal ended so. */
function isLeftToOperator({ reasons }: Declaring, settlement: Settlement): boolean {
  if (settlement.kind === 'nothing') return reasons[settlement.reason]?.nothingLeft !== true;
  return settlement.kind === 'unplannable' || settlement.kind === 'rejected';
}

/** Returns what an item says about its person: the texts of its data, but no instants and no fixed words. */
function textsOf({ change, attendee }: Subject): string[] {
  const texts: string[] = [];
  JSON.stringify([change.data, attendee], (name, value: unknown) => {
    const isSaid = typeof value === 'string' && value.length > 2 && !/At$|Time$|^(status|type|scope|rule)$/.test(name);
    if (isSaid) texts.push(value);
    return value;
  });
  return texts;
}

function expectNothingPersonal(said: readonly (Outcome | object)[], { secrets }: StateDestination): void {
  // The objects that the engine stores for items may hold only ids, so they are checked as well.
  const text = JSON.stringify(said);
  expect([...secrets, ...PERSONAL_DATA].filter((each) => text.includes(each))).toEqual([]);
  const long = said.filter((each) => 'detail' in each && typeof each.detail === 'string' && each.detail.length > 300);
  expect(long).toEqual([]);
}
