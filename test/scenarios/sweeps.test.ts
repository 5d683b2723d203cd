import { kinds } from '../../ledger/drivers/both-databases.test-kit.js';
import { attendee } from '../kit/items.js';
import type { Scene } from '../kit/scene.js';
import { archived, type Stage, useStages } from '../kit/stage.js';

const stages = useStages();
const people = (count: number, from = 1) => Array.from({ length: count }, (_, index) => attendee(from + index));
const story = (scene: Scene, list: string, key: string | number): string[] =>
  archived(scene, list, key).map(({ type, revision }) => `${revision} ${type.split('.')[1]}`);

async function polls(stage: Stage, scene: Scene, times: number): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    await stage.pollsAreDue();
    await scene.settle();
  }
}

describe.each(kinds)('sweeps beside polls, on %s', (kind) => {
  it('miss what a poll found just before they began, and what was gone before they came to it', async () => {
    const stage = await stages.open(kind);
    await stage.control('PATCH', 'knobs', { maxPerPage: 10 });
    await stage.put('attendees', ...people(25));
    const scene = await stage.scene();
    await scene.settle();
    await stage.sweepsAreDue();
    await scene.settle();
    await stage.put('attendees', attendee(26));
    await polls(stage, scene, 1); // by a poll, and the first page of a new sweep
    expect(story(scene, 'attendees', 26)).toEqual(['1 created']);
    await stage.remove('attendees', 26);
    for (let time = 0; time < 3; time += 1) {
      await stage.sweepsAreDue();
      await scene.settle();
    }
    expect(story(scene, 'attendees', 26)).toEqual(['1 created', '2 deleted']);
  });
});
