import { apiOf } from '../kit/api-of.js';
import { answer, attendee, session, vote } from '../kit/items.js';
import { kinds } from '../kit/scenario-kinds.js';
import type { Scene } from '../kit/scene.js';
import { archive, archived, type Stage, useStages } from '../kit/stage.js';

const stages = useStages();
const named = 1;
const anonymous = 2;

async function polls(stage: Stage, scene: Scene, times: number): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    await stage.pollsAreDue();
    await scene.settle();
  }
}

/** Opens two sessions with `each` votes and answers; one of them accepts anonymous votes. */
async function openEvent(kind: Parameters<typeof stages.open>[0], each: number): Promise<Stage> {
  const stage = await stages.open(kind);
  await stage.put(
    'sessions',
    session(named, { anonymousResponses: false }),
    session(anonymous, { anonymousResponses: true }),
  );
  await stage.put('attendees', ...Array.from({ length: each }, (_, index) => attendee(index + 1)));
  const people = Array.from({ length: each }, (_, index) => index + 1);
  for (const sessionId of [named, anonymous]) {
    await stage.put('votes', ...people.map((id) => vote(sessionId * 10, id, sessionId)));
    await stage.put('answers', ...people.map((id) => answer(sessionId * 1000 + id, id, sessionId)));
  }
  return stage;
}

async function problems(scene: Scene): Promise<{ status: Record<string, unknown>; codes: string[]; stream: unknown }> {
  const get = apiOf(scene);
  const ask = async (path: string) => JSON.parse(await get(`/api/${path}`)) as Record<string, never>;
  const status = await ask('status');
  const [workspace] = status['workspaces'] as unknown as { pigeonholes: Record<string, unknown>[] }[];
  const details = await ask('pigeonholes/acme/101');
  const streams = await ask('pigeonholes/acme/101/streams');
  return {
    status: workspace!.pigeonholes.find(({ id }) => id === 101)!,
    codes: (details['troubles'] as unknown as { code: string }[]).map(({ code }) => code),
    stream: (streams['items'] as unknown as { list: string; sessionId: number }[]).find(
      ({ list, sessionId }) => list === 'votes' && sessionId === named,
    ),
  };
}

describe.each(kinds)('a service that ignores filter[sessionId], on %s', (kind) => {
  it.each([300, 4])('is read once, with each item in its own session (%i rows per page)', async (maxPerPage) => {
    const stage = await openEvent(kind, 6);
    await stage.control('PATCH', 'knobs', { maxPerPage });
    await stage.fault({ kind: 'ignoreFilters' });
    const scene = await stage.scene();
    await scene.settle();
    await polls(stage, scene, 3);
    for (const list of ['votes', 'answers']) {
      const lines = archived(scene, list);
      expect(lines.map(({ type }) => type)).toEqual(Array.from({ length: 12 }, () => `${list}.created`));
      const shown = lines.map(
        ({ sessionId, data }) => `${sessionId} ${data?.['attendeeId'] === undefined ? '-' : 'named'}`,
      );
      expect(shown.toSorted()).toEqual([
        ...Array.from({ length: 6 }, () => '1 named'),
        ...Array.from({ length: 6 }, () => '2 -'),
      ]);
    }
    expect(scene.logText()).not.toContain('"level":"error"');
  });

  it('is reported as a problem until it applies the filter', async () => {
    const stage = await openEvent(kind, 6);
    const scene = await stage.scene();
    await scene.settle();
    expect(await problems(scene)).toMatchObject({ status: { foreignRows: 0 }, codes: [], stream: { foreignRows: 0 } });
    await stage.fault({ kind: 'ignoreFilters', list: 'votes' });
    await polls(stage, scene, 1);
    expect(await problems(scene)).toMatchObject({
      status: { foreignRows: 12 },
      codes: ['filters-ignored'],
      stream: { foreignRows: 6 },
    });
    await stage.control('DELETE', 'faults');
    await polls(stage, scene, 1);
    expect(await problems(scene)).toMatchObject({ status: { foreignRows: 0 }, codes: [], stream: { foreignRows: 0 } });
  });

  it.each([300, 4])(
    'proves deletions only after it applies the filter again (%i rows per page)',
    async (maxPerPage) => {
      const stage = await openEvent(kind, 6);
      await stage.control('PATCH', 'knobs', { maxPerPage });
      const scene = await stage.scene();
      await scene.settle();
      await stage.fault({ kind: 'ignoreFilters' });
      await stage.remove('answers', 1003);
      for (let time = 0; time < 4; time += 1) {
        await stage.timePasses(31_000); // otherwise, no deletion could be confirmed
        await stage.sweepsAreDue();
        await scene.settle();
      }
      expect(archive(scene).filter(({ type }) => type.endsWith('.deleted'))).toEqual([]);
      await stage.control('DELETE', 'faults');
      for (let time = 0; time < 8; time += 1) {
        await stage.sweepsAreDue();
        await scene.settle();
        await stage.db.query(
          `update missing set since = since - interval '25 hours', evident_at = evident_at - interval '25 hours',
             confirm_at = confirm_at - interval '25 hours', looked_up_at = null`,
        );
        await stage.db.query(`update streams set sequence_since = sequence_since - interval '25 hours'`);
      }
      const deleted = archive(scene).filter(({ type }) => type.endsWith('.deleted'));
      expect(deleted.map(({ list, key }) => `${list} ${key}`)).toEqual(['answers 1003']);
    },
  );

  it('may return a row without a session, whose author is then hidden', async () => {
    const stage = await openEvent(kind, 2);
    const { session: _, ...row } = answer(1777, 1, named);
    await stage.control('POST', 'mutations', {
      op: 'insert',
      list: 'answers',
      pigeonhole: 101,
      id: 1777,
      item: row,
      exact: true,
    });
    await stage.fault({ kind: 'ignoreFilters', list: 'answers' });
    const scene = await stage.scene();
    await scene.settle();
    await polls(stage, scene, 2);
    expect(archived(scene, 'answers', 1777)).toMatchObject([{ type: 'answers.created', sessionId: null }]);
    expect(archived(scene, 'answers', 1777)[0]!.data).not.toHaveProperty('attendeeId');
  });
});
