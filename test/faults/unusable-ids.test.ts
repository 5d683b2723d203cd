import { apiOf } from '../kit/api-of.js';
import { answer, attendee, pollVote, qnaQuestion, question, session, vote } from '../kit/items.js';
import { kinds } from '../kit/scenario-kinds.js';
import type { Scene } from '../kit/scene.js';
import { archive, archived, pigeonhole, type Stage, useStages } from '../kit/stage.js';

const stages = useStages();
const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);
/** Turns off the hold for an operator: without a deletion, evidence was missing. */
const noBreaker = 'deletions: { holdAbove: { share: 100%, items: 1000000 } }';

/** A live event with 12 items in each list, on pages of `maxPerPage` rows. */
async function openEvent(
  kind: Parameters<typeof stages.open>[0],
  maxPerPage: number,
): Promise<{ stage: Stage; scene: Scene }> {
  const stage = await stages.open(kind);
  await stage.control('PATCH', 'knobs', { maxPerPage });
  await stage.put('sessions', session(1, { anonymousResponses: false }), session(2, { type: 'poll_word_cloud' }));
  await stage.put('attendees', ...numbers(12).map((id) => attendee(id)));
  await stage.put('questions', ...numbers(12).map((id) => question(id, id, 1)));
  await stage.put('qna-questions', ...numbers(12).map((id) => qnaQuestion(id, { id, anonymous: false }, 1)));
  await stage.put('votes', ...numbers(12).map((id) => vote(1, id, 1)));
  await stage.put('answers', ...numbers(12).map((id) => answer(id, id, 2)));
  await stage.put('poll-mcq-votes', ...numbers(12).map((id) => pollVote(id, { id, anonymous: false }, 1)));
  const scene = await stage.scene({ sync: noBreaker });
  await scene.settle();
  return { stage, scene };
}

async function polls(stage: Stage, scene: Scene, times: number): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    await stage.timePasses(40_000);
    await stage.sweepsAreDue();
    await scene.settle();
  }
}

async function problemsOf(scene: Scene): Promise<string[]> {
  const details = JSON.parse(await apiOf(scene)(`/api/pigeonholes/acme/${pigeonhole}`)) as {
    troubles: { code: string }[];
  };
  return details.troubles.map(({ code }) => code);
}

const told = (scene: Scene): string[] => archive(scene).map(({ list, key, type }) => `${list}:${key} ${type}`);

describe.each(kinds)('ids that cannot be used for a while, on %s', (kind) => {
  it.each([
    ['text', 300],
    ['null', 5],
    ['huge', 300],
    ['session-text', 300],
    ['nothing', 300],
  ])('change nothing, and are shown as a problem (%s, pages of %i rows)', async (as, maxPerPage) => {
    const { stage, scene } = await openEvent(kind, maxPerPage);
    const before = told(scene);
    expect(before).toHaveLength(75);
    await stage.fault({ kind: 'badRows', as, pigeonhole });
    await polls(stage, scene, 3);
    expect(told(scene)).toEqual(before);
    expect(await stage.db.query(`select list, key from missing where state <> 'open' or walks > 0`)).toEqual([]);
    expect(await problemsOf(scene)).toContain('rows-set-aside');

    await stage.control('DELETE', 'faults');
    await stage.remove('answers', 12);
    await polls(stage, scene, 3);
    expect(told(scene)).toEqual([...before, 'answers:12 answers.deleted']);
    expect(await problemsOf(scene)).toEqual([]);
  });

  it('delete nothing if all rows of a page have the same id', async () => {
    const { stage, scene } = await openEvent(kind, 300);
    await stage.fault({ kind: 'badRows', as: 'same', list: 'attendees' });
    await polls(stage, scene, 3);
    expect(archive(scene).filter(({ type }) => type.endsWith('.deleted'))).toEqual([]);
    expect(await problemsOf(scene)).toContain('rows-set-aside');
  });

  it('of one row do not keep a filtered answer from proving the deletion of another', async () => {
    const { stage, scene } = await openEvent(kind, 300);
    await stage.patch('poll-mcq-votes', 3, { id: 'three' });
    await stage.remove('poll-mcq-votes', 7);
    await polls(stage, scene, 3);
    expect(archived(scene, 'poll-mcq-votes', 7).map(({ type }) => type)).toEqual([
      'poll-mcq-votes.created',
      'poll-mcq-votes.deleted',
    ]);
    expect(archived(scene, 'poll-mcq-votes', 3)).toHaveLength(1);
    expect(await problemsOf(scene)).toEqual(['rows-set-aside']);
  });
});
