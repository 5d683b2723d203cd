import { kinds } from '../kit/scenario-kinds.js';
import type { Database } from '../../ledger/drivers/database.js';
import { attendee } from '../kit/items.js';
import type { Scene } from '../kit/scene.js';
import { archived, type Stage, useStages } from '../kit/stage.js';

const stages = useStages();

/** Twenty-five people in pages of ten, all of them known, and swept so often that the order is. */
async function sweptStage(kind: Database['kind'], order: string): Promise<{ stage: Stage; scene: Scene }> {
  const stage = await stages.open(kind);
  await stage.control('PATCH', 'knobs', { maxPerPage: 10, order });
  await stage.put('attendees', ...Array.from({ length: 25 }, (_, index) => attendee(10 * (index + 1))));
  const scene = await stage.scene();
  await scene.settle();
  await sweepsEnd(stage, scene, 2);
  return { stage, scene };
}

async function sweepsEnd(stage: Stage, scene: Scene, times: number): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    await stage.sweepsAreDue();
    await scene.settle();
  }
}

/** As if what is missing, and the sequence of the pages, had been so for a day. */
async function aDayPasses(stage: Stage): Promise<void> {
  await stage.db.query(`update streams set sequence_since = sequence_since - interval '25 hours'`);
  await stage.db.query(
    `update missing set since = since - interval '25 hours', evident_at = evident_at - interval '25 hours',
       confirm_at = confirm_at - interval '25 hours'`,
  );
}

const story = (scene: Scene, key: number): string[] => archived(scene, 'attendees', key).map(({ type }) => type);

/** Items stored by one walk are known in the next one, which can then skip them. */
describe.each(kinds)('an item that is deleted in the service, on %s', (kind) => {
  it.each([
    ['is refused a page', { kind: 'error', code: 4502 }],
    ['is led round in a circle', { kind: 'repeatCursor' }],
  ])('is found missing although the sweep that first lacked it %s and is abandoned', async (_, fault) => {
    const { stage, scene } = await sweptStage(kind, 'ascending');
    await stage.remove('attendees', 150);
    await stage.put('attendees', attendee(145)); // a late row in its stead: the pages behind stay as they are
    // One request of the poll, one of the sweep for the page of the late row; then it is the last page's turn.
    await stage.fault({ ...fault, list: 'attendees', hasCursor: true, skip: 2, next: 1 });
    await sweepsEnd(stage, scene, 1);
    expect(await stage.control('GET', 'faults')).toMatchObject({ faults: [{ fired: 1 }] });
    await sweepsEnd(stage, scene, 2);
    await stage.timePasses(31_000); // one of twenty-five is much: a later answer has to confirm it
    await sweepsEnd(stage, scene, 1);
    expect(story(scene, 150)).toEqual(['attendees.created', 'attendees.deleted']);
  });

  it('is found missing although only the poll before the sweep showed it', async () => {
    const { stage, scene } = await sweptStage(kind, 'descending');
    await stage.put('attendees', attendee(260));
    // The poll reads the first page from the start; then the first of its rows is deleted, before the sweep reads it.
    await stage.fault({
      kind: 'changeDuringWalk',
      list: 'attendees',
      afterPage: 1,
      remove: 1,
      where: 'behind',
      next: 1,
    });
    await sweepsEnd(stage, scene, 1);
    expect(story(scene, 260)).toEqual(['attendees.created']);
    await sweepsEnd(stage, scene, 2);
    await aDayPasses(stage);
    await sweepsEnd(stage, scene, 1);
    expect(story(scene, 260)).toEqual(['attendees.created', 'attendees.deleted']);
  });
});
