import { kinds } from '../kit/scenario-kinds.js';
import { attendee, pollVote, qnaQuestion, question, session, vote } from '../kit/items.js';
import type { Scene } from '../kit/scene.js';
import { archive, archived, pigeonhole, type Stage, useStages } from '../kit/stage.js';
import { truthOf } from '../kit/truth.js';

const stages = useStages();
const people = (count: number, from = 1) => Array.from({ length: count }, (_, index) => attendee(from + index));
const keysOf = (scene: Scene, list: string): number[] =>
  archived(scene, list)
    .map(({ key }) => Number(key))
    .toSorted((a, b) => a - b);
const upTo = (last: number): number[] => Array.from({ length: last }, (_, index) => index + 1);

/** Opens a stage with attendees in pages of ten and reads it once. Nothing is polled until a test makes it due. */
async function readOnce(kind: (typeof kinds)[number], count: number): Promise<{ stage: Stage; scene: Scene }> {
  const stage = await stages.open(kind);
  await stage.control('PATCH', 'knobs', { maxPerPage: 10 });
  await stage.put('attendees', ...people(count));
  const scene = await stage.scene({ sync: 'every: { live: 1h }' });
  await scene.settle();
  await stage.requests();
  return { stage, scene };
}

async function attendeeRequests(stage: Stage): Promise<string[]> {
  const asked = (await stage.requests()).filter(({ path }) => path.endsWith('/attendees'));
  return asked.map(({ query }) => (query.includes('cursor') ? 'further' : 'first'));
}

async function orderOf(stage: Stage, list: string): Promise<unknown> {
  return (await stage.db.query(`select item_order from streams where list = $1`, [list]))[0]!['item_order'];
}

describe('reading a list that changes', () => {
  it.each([
    ['descending', 'keyset'],
    ['unordered', 'keyset'],
    ['ascending', 'offset'],
    ['descending', 'offset'],
    ['unordered', 'offset'],
  ])('loses no item if a list in %s order with %s cursors grows and shrinks during the walk', async (order, cursor) => {
    const stage = await stages.open(kinds.at(-1)!);
    await stage.control('PATCH', 'knobs', { maxPerPage: 10, order, cursor });
    await stage.put('sessions', session(1));
    await stage.put('attendees', ...people(34));
    const scene = await stage.scene();
    for (const change of [
      { insert: 2, remove: 0, where: 'behind' },
      { insert: 0, remove: 2, where: 'behind' },
      { insert: 3, remove: 1, where: 'ahead' },
    ]) {
      await stage.fault({ kind: 'changeDuringWalk', list: 'attendees', afterPage: 2, next: 1, ...change });
      await stage.pollsAreDue();
      await scene.settle();
    }
    await stage.put('attendees', attendee(9_000_001));
    await stage.sweepsAreDue();
    await scene.settle();
    const shown = await truthOf(stage.sandbox.baseUrl, 'attendees', pigeonhole);
    expect(shown.length).toBeGreaterThan(34);
    expect(keysOf(scene, 'attendees')).toEqual(expect.arrayContaining(shown.map(({ id }) => id)));
    const lines = archived(scene, 'attendees').map(({ key, revision }) => `${key} ${revision}`);
    expect(new Set(lines).size).toBe(lines.length);
    const deleted = archived(scene, 'attendees').filter(({ type }) => type === 'attendees.deleted');
    expect(deleted.filter(({ key }) => shown.some(({ id }) => String(id) === key))).toEqual([]);
  });
});

describe.each(kinds)('reading, on %s', (kind) => {
  it('polls only the last page of a quiet ascending stream for new items, and sweeps one page in addition', async () => {
    const { stage, scene } = await readOnce(kind, 25);
    await stage.put('attendees', attendee(26));
    await stage.pollsAreDue();
    await scene.settle();
    expect(await attendeeRequests(stage)).toEqual(['further', 'first']);
    expect(keysOf(scene, 'attendees')).toEqual(upTo(26));
  });

  it('walks the list again immediately if the service refuses the stored cursor', async () => {
    const { stage, scene } = await readOnce(kind, 25);
    await stage.put('attendees', attendee(26));
    await stage.fault({ kind: 'error', code: 6000, list: 'attendees', hasCursor: true, next: 1 });
    await stage.pollsAreDue();
    await scene.settle();
    expect(await attendeeRequests(stage)).toEqual(['further', 'first', 'further', 'further']);
    expect(keysOf(scene, 'attendees')).toEqual(upTo(26));
  });

  it('restarts a walk immediately if a cursor is refused in the middle of a walk from the first page', async () => {
    const stage = await stages.open(kind);
    await stage.control('PATCH', 'knobs', { maxPerPage: 10 });
    await stage.put('attendees', ...people(25));
    await stage.fault({ kind: 'error', code: 4502, list: 'attendees', hasCursor: true, next: 1 });
    const scene = await stage.scene();
    await scene.settle();
    expect(keysOf(scene, 'attendees')).toEqual(upTo(25));
  });

  it('walks the list again if the page size has changed', async () => {
    const { stage, scene } = await readOnce(kind, 25);
    await stage.control('PATCH', 'knobs', { maxPerPage: 7 });
    await stage.put('attendees', attendee(26));
    await stage.pollsAreDue();
    await scene.settle();
    expect(await attendeeRequests(stage)).toEqual(['further', 'first', 'further', 'further', 'further']);
    expect(keysOf(scene, 'attendees')).toEqual(upTo(26));
  });

  it('walks the list again if the last item is missing from the last page', async () => {
    const { stage, scene } = await readOnce(kind, 25);
    await stage.remove('attendees', 25);
    await stage.put('attendees', attendee(26));
    await stage.pollsAreDue();
    await scene.settle();
    expect((await attendeeRequests(stage)).slice(0, 2)).toEqual(['further', 'first']);
    expect(keysOf(scene, 'attendees')).toEqual(upTo(26));
  });

  it('stops polling only the last page when the order of an ascending stream changes, and loses nothing', async () => {
    const { stage, scene } = await readOnce(kind, 25);
    expect(await orderOf(stage, 'attendees')).toBe('ascending');
    await stage.control('POST', 'lists/attendees', { order: 'descending' });
    await stage.put('attendees', ...people(12, 26));
    await stage.pollsAreDue();
    await scene.settle();
    // The first page shows only new attendees, as if the answer came from another pigeonhole (decision 0092).
    await stage.timePasses(130_000);
    await scene.settle();
    expect(await orderOf(stage, 'attendees')).toBe('unordered');
    expect(keysOf(scene, 'attendees')).toEqual(upTo(37));

    await stage.control('POST', 'lists/attendees', { order: 'ascending' });
    for (const cleanWalk of [1, 2, 3]) {
      expect([cleanWalk, await orderOf(stage, 'attendees')]).toEqual([cleanWalk, 'unordered']);
      await stage.sweepsAreDue();
      await scene.settle();
    }
    expect(await orderOf(stage, 'attendees')).toBe('ascending');
  });

  it('finds an edit on an old page by the rolling sweep and reports it as the next revision', async () => {
    const { stage, scene } = await readOnce(kind, 25);
    await stage.patch('attendees', 13, { Name: 'Edited' }); // on the second page
    await stage.pollsAreDue();
    await scene.settle();
    expect(archived(scene, 'attendees', 13)).toHaveLength(1);
    await stage.pollsAreDue();
    await scene.settle();
    expect(archived(scene, 'attendees', 13)).toMatchObject([
      { revision: 1 },
      { revision: 2, data: { Name: 'Edited' } },
    ]);
  });

  it('continues with the other streams while one cannot be read, and then resumes the walk of that one', async () => {
    const stage = await stages.open(kind);
    await stage.control('PATCH', 'knobs', { maxPerPage: 10 });
    await stage.put('sessions', session(1));
    await stage.put('attendees', ...people(25));
    await stage.put('poll-mcq-votes', pollVote(51, { id: 1, anonymous: false }, 1));
    await stage.fault({ kind: 'error', code: 5000, list: 'attendees', hasCursor: true });
    // The interval is longer than the test, so the list is not polled again, and each attempt fails.
    const scene = await stage.scene({ sync: 'every: { live: 1h }' });
    await scene.discover();
    await scene.read({ workspace: 'acme', pigeonholeId: pigeonhole });
    expect(
      await stage.db.query(`select list, pages from streams s join walks w on w.stream_id = s.id where failures > 0`),
    ).toEqual([{ list: 'attendees', pages: 1 }]);
    await scene.deliver('archive');
    expect(archived(scene, 'poll-mcq-votes')).toHaveLength(1);

    await stage.control('DELETE', 'faults');
    await stage.requests();
    await stage.db.query(`update streams set due_at = now() where failures > 0`);
    await scene.settle();
    expect(await attendeeRequests(stage)).toEqual(['further', 'further']);
    expect(keysOf(scene, 'attendees')).toEqual(upTo(25));
  });

  it('keeps texts unchanged: NUL characters, lone surrogates and special property names', async () => {
    const stage = await stages.open(kind);
    const odd = {
      'a\u0000b': 'NUL \u0000 in a text',
      b: '\ud800 alone',
      'Größe\u2028': '😀',
      constructor: 'x',
      10: 'ten',
      9: 'nine',
    };
    await stage.put('attendees', attendee(1, { a: 1, b: 2 }), attendee(2, odd));
    const scene = await stage.scene();
    await scene.settle();
    expect(archived(scene, 'attendees', 2)[0]!.data).toEqual(attendee(2, odd));
    await stage.sweepsAreDue();
    await scene.settle();
    expect(archived(scene, 'attendees')).toHaveLength(2);
  });

  it('distinguishes a thousand items of one instant, and counts identical votes by their number on a page', async () => {
    const stage = await stages.open(kind);
    const ids = upTo(1000);
    await stage.put('sessions', session(1, { anonymousResponses: false }));
    await stage.put('votes', ...ids.map((id) => vote(11, id, 1)), vote(12, 7, 1), vote(12, 7, 1));
    await stage.put('poll-mcq-votes', ...ids.map((id) => pollVote(id, { id, anonymous: false }, 1)));
    const scene = await stage.scene();
    await scene.settle();
    expect(archived(scene, 'votes')).toHaveLength(1002);
    expect(keysOf(scene, 'poll-mcq-votes')).toEqual(ids);
    await stage.sweepsAreDue();
    await scene.settle();
    expect(archive(scene).filter(({ revision }) => revision > 1)).toEqual([]);
    expect(archived(scene, 'votes')).toHaveLength(1002);
  });

  it('keeps the copied texts and the visibility of identical votes up to date even if they are on different pages', async () => {
    const stage = await stages.open(kind);
    await stage.control('PATCH', 'knobs', { maxPerPage: 10 });
    await stage.put('sessions', session(1, { anonymousResponses: false }));
    const votes = [vote(12, 7, 1), ...upTo(12).map((id) => vote(11, id, 1)), vote(12, 7, 1)];
    const at = { list: 'votes', pigeonhole, exact: true };
    const inserts = votes.map((item, index) => ({ ...at, op: 'insert', id: index + 1, item }));
    await stage.control('POST', 'mutations', inserts);
    const scene = await stage.scene();
    await scene.settle();
    expect(archived(scene, 'votes')).toHaveLength(14);
    for (const { id, item } of inserts) {
      await stage.patch('votes', id, { session: { ...(item['session'] as object), name: 'Renamed' } });
    }
    const names = async (): Promise<unknown> => {
      await stage.sweepsAreDue();
      await scene.settle();
      return await stage.db.query(
        `select payload::json #>> '{session,name}' as name, count(*)::int as votes from items where list = 'votes' group by 1`,
      );
    };
    expect(await names()).toEqual([{ name: 'Renamed', votes: 14 }]);

    const visibilities = async (anonymousResponses: boolean): Promise<unknown> => {
      await stage.patch('sessions', 1, { anonymousResponses });
      await names();
      return await stage.db.query(
        `select visibility, count(*)::int as votes from items where list = 'votes' and payload is not null group by 1`,
      );
    };
    expect(await visibilities(true)).toEqual([{ visibility: 'anonymous', votes: 14 }]);
    expect(await visibilities(false)).toEqual([{ visibility: 'named', votes: 14 }]);
  });

  it('sets a row without an id aside, and stores the rest of its page', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', attendee(1), attendee(3));
    await stage.control('POST', 'mutations', {
      op: 'insert',
      list: 'attendees',
      pigeonhole,
      id: 2,
      item: { Name: 'No id' },
      exact: true,
    });
    const scene = await stage.scene();
    await scene.settle();
    expect(keysOf(scene, 'attendees')).toEqual([1, 3]);
    expect(scene.logText()).toContain('"unidentified":1');
  });

  it('reads the lists of a session that appears later', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', attendee(5));
    await stage.put('sessions', session(1, { anonymousResponses: false }));
    const scene = await stage.scene();
    await scene.settle();
    await stage.put('sessions', session(2, { anonymousResponses: false }));
    await stage.put('votes', vote(12, 5, 2));
    await stage.db.query(`update streams set due_at = now() where list = 'sessions'`);
    await scene.settle();
    expect(archived(scene, 'votes')).toMatchObject([{ sessionId: 2, data: { attendeeId: 5 } }]);
  });

  it('reports no change if only the set of discarded fields changes; they return with the next edit', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1));
    await stage.put('attendees', ...people(3));
    await stage.put('qna-questions', qnaQuestion(11, { id: 1, anonymous: false }, 1));
    await stage.put('questions', question(11, 1, 1));
    await stage.patch('attendees', 1, { Name: 'First' });
    const sinks = { archive: `{ type: file, folder: "${stage.folder}/archive", consent: { accept: [obtained] } }` };
    const lines = (): string[] =>
      archived({ folder: stage.folder }, 'attendees', 1).map(
        ({ revision, data }) => `${revision} ${Object.hasOwn(data!, 'Email')}`,
      );
    const stored = () =>
      stage.db.query<{ n: number }>(`select count(*)::int as n from items where payload::text like '%@example.com%'`);

    const all = await stage.scene({ sinks });
    await all.settle();
    await stage.patch('attendees', 1, { Name: 'Second' });
    await stage.sweepsAreDue();
    await all.settle();
    expect(lines()).toEqual(['1 true', '2 true']);

    const less = await stage.scene({ sinks, sync: 'drop: { attendees: [Email], questions: [createdAt] }' });
    await stage.sweepsAreDue();
    await less.settle();
    expect(archive({ folder: stage.folder }).filter(({ revision }) => revision > 1)).toHaveLength(1);
    expect(await stored()).toEqual([{ n: 0 }]);
    expect(await stage.db.query(`select 1 from changes where snapshot::text like '%@example.com%'`)).toEqual([]);
    await stage.patch('attendees', 1, { Name: 'Third' });
    await stage.sweepsAreDue();
    await less.settle();
    expect(lines()).toEqual(['1 true', '2 true', '3 false']);

    const again = await stage.scene({ sinks });
    await stage.sweepsAreDue();
    await again.settle();
    expect(lines()).toHaveLength(3);
    expect(await stored()).toEqual([{ n: 3 }]);
    await stage.patch('attendees', 1, { Name: 'Fourth', Email: 'another@example.com' });
    await stage.sweepsAreDue();
    await again.settle();
    expect(lines()).toEqual(['1 true', '2 true', '3 false', '4 true']);
  });

  it('reports an edit that adds a field which was discarded when the item was stored without it', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', attendee(1));
    const sinks = { archive: `{ type: file, folder: "${stage.folder}/archive", consent: { accept: [obtained] } }` };
    const less = await stage.scene({ sinks, sync: 'drop: { attendees: [Company] }' });
    await less.settle();
    const all = await stage.scene({ sinks });
    await stage.sweepsAreDue();
    await all.settle();
    await stage.patch('attendees', 1, { Company: 'Acme' });
    await stage.sweepsAreDue();
    await all.settle();
    expect(archived({ folder: stage.folder }, 'attendees', 1).map(({ data }) => data!['Company'])).toEqual([
      undefined,
      'Acme',
    ]);
  });

  it('removes a newly discarded field from earlier revisions of an item that no longer has it', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', attendee(1, { Company: 'Acme' }));
    const sinks = { archive: `{ type: file, folder: "${stage.folder}/archive", consent: { accept: [obtained] } }` };
    const all = await stage.scene({ sinks });
    await all.settle();
    const { Company: _, ...without } = attendee(1, { Company: 'Acme' });
    await stage.remove('attendees', 1);
    await stage.put('attendees', without);
    await stage.sweepsAreDue();
    await all.settle();
    const kept = () => stage.db.query(`select 1 from changes where snapshot::text like '%Acme%'`);
    expect(await kept()).toHaveLength(1);
    const less = await stage.scene({ sinks, sync: 'drop: { attendees: [Company] }' });
    await stage.sweepsAreDue();
    await less.settle();
    expect(await kept()).toEqual([]);
    expect(archived({ folder: stage.folder }, 'attendees', 1)).toHaveLength(2);
  });
});
