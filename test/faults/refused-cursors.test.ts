import { attendee } from '../kit/items.js';
import { kinds } from '../kit/scenario-kinds.js';
import type { Scene } from '../kit/scene.js';
import { archived, pigeonhole, type Stage, useStages } from '../kit/stage.js';

const stages = useStages();
const place = { workspace: 'acme', pigeonholeId: pigeonhole };

/** Opens a list of three pages that was read completely. */
async function readList(kind: (typeof kinds)[number], knobs: object = {}): Promise<{ stage: Stage; scene: Scene }> {
  const stage = await stages.open(kind);
  await stage.control('PATCH', 'knobs', { maxPerPage: 10, cursorText: 'signed', ...knobs });
  await stage.put('attendees', ...Array.from({ length: 25 }, (_, index) => attendee(index + 1)));
  const scene = await stage.scene();
  await scene.settle();
  return { stage, scene };
}

interface StreamWait {
  readonly waitMs: number;
  readonly failures: number;
  readonly failure: string | null;
}

async function attendees(stage: Stage): Promise<StreamWait> {
  const [row] = await stage.db.query<StreamWait>(
    `select greatest(0, extract(epoch from due_at - clock_timestamp()) * 1000)::float8 as "waitMs", failures, failure
     from streams where list = 'attendees'`,
  );
  return row!;
}

/**
 * Runs cycles until the condition holds, and skips the waits between them.
 * @returns the sum of the waits of the list, in ms; infinity if the condition did not hold after `cycles`
 */
async function waitedUntil(stage: Stage, scene: Scene, holds: () => boolean, cycles = 20): Promise<number> {
  let waitedMs = 0;
  for (let cycle = 0; cycle < cycles; cycle += 1) {
    await stage.db.query(`update streams set due_at = now() where list = 'attendees'`);
    await scene.read(place);
    await scene.deliver('archive');
    if (holds()) return waitedMs;
    waitedMs += (await attendees(stage)).waitMs;
  }
  return Number.POSITIVE_INFINITY;
}

const isFound = (scene: Scene, id: number) => (): boolean => archived(scene, 'attendees', id).length > 0;

const refusals: readonly (readonly [string, object])[] = [
  ['6000', { code: 6000 }],
  ['4500', { code: 4500 }],
  ['4502', { code: 4502 }],
  ['4504', { code: 4504 }],
  ['5000', { code: 5000 }],
  ['7001', { code: 7001 }],
  ['9000', { code: 9000 }],
  ['an unknown code', { code: 4999, status: 403 }],
  ['400 without a code', { status: 400, withoutCode: true }],
  ['404 without a code', { status: 404, withoutCode: true }],
  ['410 without a code', { status: 410, withoutCode: true }],
  ['302', { status: 302, withoutCode: true }],
];

describe.each(kinds)('a service that refuses the cursors it has issued, on %s', (kind) => {
  it.each(refusals)(
    'costs at most a minute, or 30 s with the documented code, if it answers %s',
    async (answer, error) => {
      const { stage, scene } = await readList(kind);
      await stage.fault({ kind: 'staleCursor', ...error });
      await stage.put('attendees', attendee(26));
      const atMostMs = answer === '6000' ? 30_000 : 60_000;
      expect(await waitedUntil(stage, scene, isFound(scene, 26))).toBeLessThan(atMostMs);
      await stage.put('attendees', attendee(27));
      expect(await waitedUntil(stage, scene, isFound(scene, 27))).toBe(0); // the new cursors are accepted
      expect(await attendees(stage)).toMatchObject({ failures: 0, failure: null });
    },
  );

  it.each([
    ['6000', { code: 6000 }],
    ['5000', { code: 5000 }],
  ])('does not stop a sweep whose polls need no cursor, if it answers %s', async (_, error) => {
    const { stage, scene } = await readList(kind, { order: 'descending' });
    await stage.sweepsAreDue();
    await stage.fault({ kind: 'error', code: 5000, list: 'attendees', hasCursor: true, next: 1 });
    await scene.read(place); // the sweep stops after its first page
    await stage.control('DELETE', 'faults');
    await stage.fault({ kind: 'staleCursor', ...error });
    await stage.patch('attendees', 3, { Name: 'Edited' });
    const isEdited = (): boolean => archived(scene, 'attendees', 3).length === 2;
    expect(await waitedUntil(stage, scene, isEdited)).toBeLessThan(60_000);
  });

  it('keeps the position of a walk while the service fails without a cursor as well', async () => {
    const { stage, scene } = await readList(kind);
    await stage.sweepsAreDue();
    await stage.fault({ kind: 'error', code: 5000, list: 'attendees', hasCursor: true, skip: 2 });
    await scene.read(place);
    await stage.fault({ kind: 'error', code: 5000 });
    await waitedUntil(stage, scene, () => false, 6);
    await stage.control('DELETE', 'faults');
    await stage.requests();
    await stage.db.query(`update streams set due_at = now() where list = 'attendees'`);
    await scene.read(place);
    const asked = (await stage.requests()).filter(({ path }) => path.endsWith('/attendees'));
    expect(asked.map(({ query }) => query.includes('cursor='))).not.toContain(false);
  });

  it('does not cause one walk after the other if it is a page that always fails', async () => {
    const { stage, scene } = await readList(kind);
    await stage.sweepsAreDue();
    await stage.fault({ kind: 'error', code: 5000, list: 'attendees', hasCursor: true });
    await stage.requests();
    expect(await waitedUntil(stage, scene, () => false, 40)).toBe(Number.POSITIVE_INFINITY);
    const asked = (await stage.requests()).filter(({ path }) => path.endsWith('/attendees'));
    const first = asked.filter(({ query }) => !query.includes('cursor='));
    expect(first.length).toBeLessThanOrEqual(4); // after 3, 6, 12 and 24 failures
  });
});

describe.each(kinds)('a service whose cursors become invalid with every write, on %s', (kind) => {
  it('is read to the end between two writes', async () => {
    const { stage, scene } = await readList(kind);
    await stage.fault({ kind: 'staleCursor', issued: 'beforeWrite', code: 6000 });
    for (let id = 26; id < 30; id += 1) {
      await stage.put('attendees', attendee(id));
      expect(await waitedUntil(stage, scene, isFound(scene, id))).toBe(0);
    }
  });

  it('says that it cannot be read to the end if a write happens in each walk, and is read when the writes stop', async () => {
    const { stage, scene } = await readList(kind);
    await stage.put('attendees', attendee(26));
    await stage.fault({ kind: 'staleCursor', issued: 'beforeWrite', code: 6000 });
    await stage.fault({ kind: 'changeDuringWalk', list: 'attendees', insert: 1, where: 'behind' });
    await waitedUntil(stage, scene, () => false, 4);
    expect((await attendees(stage)).failure).toContain('cannot read this list to its end');
    expect((await attendees(stage)).waitMs).toBeLessThanOrEqual(20_000);
    await stage.control('DELETE', 'faults');
    expect(await waitedUntil(stage, scene, isFound(scene, 26))).toBe(0);
    expect((await attendees(stage)).failure).toBeNull();
  });
});
