import { kinds } from '../kit/scenario-kinds.js';
import { attendee, qnaQuestion, question, session } from '../kit/items.js';
import type { Scene } from '../kit/scene.js';
import { archived, type Stage, useStages } from '../kit/stage.js';

const stages = useStages();
const story = (scene: Scene, list: string, key: string | number): string[] =>
  archived(scene, list, key).map(({ type, revision }) => `${revision} ${type.split('.')[1]}`);

async function polls(stage: Stage, scene: Scene, times: number): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    await stage.pollsAreDue();
    await scene.settle();
  }
}

describe.each(kinds)('the author of a question, on %s', (kind) => {
  it('is shown again when the session that allows it returns', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1, { anonymousResponses: false }), session(2));
    await stage.put('attendees', attendee(1));
    const scene = await stage.scene();
    await scene.settle();
    await stage.remove('sessions', 1);
    await polls(stage, scene, 1);
    await stage.timePasses(31_000); // until a second answer confirms it
    await polls(stage, scene, 1);
    await stage.put('questions', question(1, 1, 1));
    await polls(stage, scene, 1);
    expect(archived(scene, 'questions', 1).at(-1)!.data).not.toHaveProperty('attendeeId');
    await stage.put('sessions', session(1, { anonymousResponses: false }));
    await polls(stage, scene, 2);
    expect(archived(scene, 'questions', 1).at(-1)!.data).toHaveProperty('attendeeId', 1);
  });

  it('is hidden when the evidence is deleted, and shown again when the evidence returns', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1));
    await stage.put('attendees', attendee(1));
    await stage.put('qna-questions', ...[1, 2].map((id) => qnaQuestion(id, { id: 1, anonymous: false }, 1)));
    await stage.put('questions', question(1, 1, 1), question(2, 1, 1));
    const scene = await stage.scene();
    await scene.settle();
    expect(archived(scene, 'questions', 1).at(-1)!.data).toHaveProperty('attendeeId', 1);
    await stage.remove('qna-questions', 1);
    await polls(stage, scene, 2);
    expect(story(scene, 'questions', 1).at(-1)).toBe('2 updated');
    expect(archived(scene, 'questions', 1).at(-1)!.data).not.toHaveProperty('attendeeId');
    await stage.put('qna-questions', qnaQuestion(1, { id: 1, anonymous: false }, 1));
    await polls(stage, scene, 2);
    expect(archived(scene, 'questions', 1).at(-1)!.data).toHaveProperty('attendeeId', 1);
  });
});
