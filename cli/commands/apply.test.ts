import type { EventObjectView, EventView } from '../../operations/provision-event.js';
import { followEvent, untilAnswered } from './apply.js';

const object = (key: string, state: EventObjectView['state'], id: number | null = null): EventObjectView => ({
  key,
  kind: key === 'pigeonhole' ? 'pigeonhole' : 'session',
  state,
  id,
  fields: {},
  passcode: null,
  differences: [],
  candidates: [],
  problems: [],
  requestId: null,
});
const view = (objects: readonly EventObjectView[], facts: Partial<EventView> = {}): EventView => ({
  workspace: 'acme',
  event: 'summit',
  timezone: 'UTC',
  subscription: null,
  objects,
  problems: [],
  warnings: [],
  hindrance: null,
  nextInMs: null,
  ...facts,
});
const hindered = (
  why: 'quota' | 'unreachable',
  nextInMs: number,
  objects: readonly EventObjectView[] = [],
): EventView => view(objects, { hindrance: { kind: 'wait', why, detail: 'it says why' }, nextInMs });

/** Returns the answers one after another, and records requests, notes and waits. */
function stage(...views: EventView[]) {
  const [skips, notes, waits]: [string[][], string[], number[]] = [[], [], []];
  const left = [...views];
  return {
    skips,
    notes,
    waits,
    turn: async (skip: readonly string[]) => {
      skips.push([...skip]);
      return left.shift()!;
    },
    out: { note: (text: string) => void notes.push(text) },
    wait: async (ms: number) => void waits.push(ms),
  };
}

describe('following the creation of an event', () => {
  it('repeats the request until nothing is left, and reports everything that was created', async () => {
    const { turn, out, wait, notes, waits } = stage(
      view([object('pigeonhole', 'created', 101), object('a', 'create')], { nextInMs: 0 }),
      view([object('pigeonhole', 'exists', 101), object('a', 'created', 5001)]),
    );
    const end = await followEvent(turn, out, wait);
    expect(end.objects.map(({ key, state }) => `${key} ${state}`)).toEqual(['pigeonhole created', 'a created']);
    expect(notes).toEqual(['pigeonhole is created, id 101', 'a is created, id 5001']);
    expect(waits).toEqual([]);
  });

  it('does not send refused objects again, and reports them at the end', async () => {
    const { turn, out, wait, skips } = stage(
      view([object('a', 'refused'), object('b', 'create')], { nextInMs: 0 }),
      view([object('a', 'create'), object('b', 'created', 2)]),
    );
    const end = await followEvent(turn, out, wait);
    expect(skips).toEqual([[], ['a']]);
    expect(end.objects.map(({ state }) => state)).toEqual(['refused', 'created']);
  });

  it('waits for the lookup of a lost answer, says so once, and counts found objects as created', async () => {
    const { turn, out, wait, notes, waits } = stage(
      view([object('a', 'unknown')], { nextInMs: 60_000 }),
      view([object('a', 'unknown')], { nextInMs: 400 }),
      view([object('a', 'claim', 5)]),
    );
    const end = await followEvent(turn, out, wait);
    expect(waits).toEqual([60_000, 400]);
    expect(notes).toEqual([
      expect.stringMatching(/^the answer about a was lost: pigeonpost checks in 60 s whether the service has it/),
      'a was found, id 5',
    ]);
    expect(end.objects[0]).toMatchObject({ state: 'created', id: 5 });
  });

  it('does not report objects of an earlier command as created', async () => {
    const { turn, out, wait } = stage(view([object('a', 'claim', 5), object('b', 'exists', 6)]));
    expect((await followEvent(turn, out, wait)).objects.map(({ state }) => state)).toEqual(['claim', 'exists']);
  });

  it('reports objects that were created before the quota was used up', async () => {
    const { turn, out, wait, notes, waits } = stage(
      hindered('quota', 7_200_000, [object('a', 'created', 1), object('b', 'create')]),
      hindered('quota', 30_000),
      view([object('a', 'exists', 1), object('b', 'created', 2)]),
    );
    const end = await followEvent(turn, out, wait);
    expect(end.objects.map(({ state }) => state)).toEqual(['created', 'created']);
    expect(waits).toEqual([60_000, 30_000]);
    expect(notes.filter((note) => note.includes('quota'))).toEqual([
      'the request quota is used up: the command continues in 2 h (Ctrl-C is safe: run the same command again to continue)',
    ]);
  });

  it('gives up if the service cannot be reached, and shows the progress so far', async () => {
    const { turn, out, wait, waits } = stage(
      hindered('unreachable', 2000, [object('a', 'created', 1), object('b', 'create')]),
      ...Array.from({ length: 4 }, () => hindered('unreachable', 2000)),
    );
    const end = await followEvent(turn, out, wait);
    expect(waits).toHaveLength(4);
    expect(end).toMatchObject({
      hindrance: { why: 'unreachable' },
      objects: [{ state: 'created' }, { state: 'create' }],
    });
  });
});

it('a plan is requested until the service answers again', async () => {
  const { turn, out, wait } = stage(
    hindered('unreachable', 2000),
    hindered('quota', 1000),
    view([object('a', 'create')]),
  );
  expect((await untilAnswered(() => turn([]), out, wait)).objects).toHaveLength(1);
});
