import { kinds } from '../kit/scenario-kinds.js';
import type { Database } from '../../ledger/drivers/database.js';
import { attendee } from '../kit/items.js';
import type { Scene } from '../kit/scene.js';
import { archived, type Stage, useStages } from '../kit/stage.js';

const stages = useStages();

/** Opens a stage with 25 known attendees in pages of ten, after enough sweeps to determine the order of the list. */
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

/** Moves the records of missing items and of the page sequence a day into the past. */
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
    ['is led in a circle', { kind: 'repeatCursor' }],
  ])('is reported as deleted even if the first sweep that did not find it %s and is abandoned', async (_, fault) => {
    const { stage, scene } = await sweptStage(kind, 'ascending');
    await stage.remove('attendees', 150);
    await stage.put('attendees', attendee(145)); // a late row takes its position, so that later pages stay the same
    // The poll sends one request, and the sweep one for the page of the late row. The fault affects the last page.
    await stage.fault({ ...fault, list: 'attendees', hasCursor: true, skip: 2, next: 1 });
    await sweepsEnd(stage, scene, 1);
    expect(await stage.control('GET', 'faults')).toMatchObject({ faults: [{ fired: 1 }] });
    await sweepsEnd(stage, scene, 2);
    await stage.timePasses(31_000); // one of 25 is a large share, so a later answer must confirm it
    await sweepsEnd(stage, scene, 1);
    expect(story(scene, 150)).toEqual(['attendees.created', 'attendees.deleted']);
  });

  it('is reported as deleted even if only the poll before the sweep had read it', async () => {
    const { stage, scene } = await sweptStage(kind, 'descending');
    await stage.put('attendees', attendee(260));
    // The poll reads the first page. Then one of its rows is deleted, before the sweep reads the page.
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
