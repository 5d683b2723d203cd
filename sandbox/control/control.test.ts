import type { JsonObject } from '../json.js';
import { closeSandboxes, idsOf, startTestSandbox, textOf, type TestSandbox } from '../sandbox-client.test-kit.js';

afterEach(closeSandboxes);

const P = 101;

async function mutate(sandbox: TestSandbox, mutation: object): Promise<{ id: number; item: JsonObject }> {
  const { results } = await sandbox.control('POST', 'mutations', { pigeonhole: P, ...mutation });
  return (results as unknown as { id: number; item: JsonObject }[])[0] ?? { id: 0, item: {} };
}

describe('the truth', () => {
  it.each(['ascending', 'descending', 'unordered'] as const)(
    'contains what a complete walk %s returns, list by list',
    async (order) => {
      const sandbox = await startTestSandbox({ order, knobs: { withdrawal: 'remove', lateRowShare: 0.3 } });
      await sandbox.control('POST', 'events', { count: 300 });
      const lists: [string, string[]][] = [
        ['sessions', ['']],
        ['attendees', ['']],
        ['questions', ['']],
        ['qna-questions', ['']],
        ['poll-mcq-votes', ['']],
        ['poll-quiz-votes', ['']],
        ['votes', ['5001', '5011']],
        ['answer_ratings', ['5001', '5011']],
        ['answers', ['5041']],
      ];
      for (const [list, sessions] of lists) {
        const walked: JsonObject[] = [];
        for (const session of sessions) {
          const filter = session === '' ? '' : `?filter[sessionId]=${session}`;
          walked.push(...(await sandbox.walk(`/v2/pigeonholes/${P}/${list}${filter}`, 20)));
        }
        const truth = await sandbox.truth(`${list}?pigeonhole=${P}`);
        const sorted = (items: JsonObject[]): string[] => items.map((item) => JSON.stringify(item)).toSorted();
        expect(sorted(walked)).toEqual(sorted(truth));
        expect(truth.length).toBeGreaterThan(0);
      }
      expect(await sandbox.truth('pigeonholes')).toHaveLength(3);
    },
  );

  it('of a session contains only that session, and shows hidden ids on request', async () => {
    const sandbox = await startTestSandbox();
    const votes = await sandbox.truth(`votes?pigeonhole=${P}&session=5011&ids=1`);
    expect(votes).toHaveLength(36);
    for (const { id, item } of votes as { id: number; item: JsonObject }[]) {
      expect((item['session'] as JsonObject)['id']).toBe(5011);
      expect(id).toEqual(expect.any(Number));
    }
  });
});

describe('mutations', () => {
  it('insert a plausible item with the given fields', async () => {
    const sandbox = await startTestSandbox();
    const { id, item } = await mutate(sandbox, {
      op: 'insert',
      list: 'attendees',
      item: { Name: 'Ann', consent: null },
    });
    expect(item).toMatchObject({ id, Name: 'Ann', Email: expect.stringContaining('@') });
    expect(item).not.toHaveProperty('consent');
    expect(await sandbox.walk(`/v2/pigeonholes/${P}/attendees`)).toContainEqual(item);
  });

  it('insert between two ids', async () => {
    const sandbox = await startTestSandbox();
    const ids = idsOf(await sandbox.truth(`attendees?pigeonhole=${P}`)) as number[];
    const between = (ids[4] ?? 0) + 5;
    await mutate(sandbox, { op: 'insert', list: 'attendees', id: between });
    expect(idsOf(await sandbox.walk(`/v2/pigeonholes/${P}/attendees`))).toEqual(ids.toSpliced(5, 0, between));
  });

  it('insert a question into both lists or only one', async () => {
    const sandbox = await startTestSandbox();
    const session = { id: 5001 };
    const both = await mutate(sandbox, {
      op: 'insert',
      list: 'questions',
      item: { session, question: { content: 'both?', status: 'approved' } },
    });
    const one = await mutate(sandbox, {
      op: 'insert',
      list: 'questions',
      mirror: false,
      item: { session, question: { content: 'one?' } },
    });
    const qna = await sandbox.truth(`qna-questions?pigeonhole=${P}`);
    expect(qna.find(({ id }) => id === both.id)).toMatchObject({ content: 'both?', status: 'allowed', session });
    expect(qna.some(({ id }) => id === one.id)).toBe(false);
    expect(idsOf(await sandbox.truth(`questions?pigeonhole=${P}`))).toEqual(expect.arrayContaining([both.id, one.id]));
  });

  it('insert an exact item, even the same row twice', async () => {
    const sandbox = await startTestSandbox();
    const row = {
      attendeeId: 'not a number',
      createdAt: '2026-11-21T09:00:00Z',
      session: { id: 5001 },
      question: null,
    };
    await mutate(sandbox, { op: 'insert', list: 'votes', exact: true, item: row });
    await mutate(sandbox, { op: 'insert', list: 'votes', exact: true, item: row });
    const votes = await sandbox.walk(`/v2/pigeonholes/${P}/votes?filter[sessionId]=5001`);
    expect(votes.slice(-2)).toEqual([row, row]);
  });

  it('patch an item and its copies in other lists', async () => {
    const sandbox = await startTestSandbox();
    const question = idsOf(await sandbox.truth(`questions?pigeonhole=${P}`))[0];
    await mutate(sandbox, {
      op: 'patch',
      list: 'qna-questions',
      id: question,
      item: { content: 'New text', status: 'archived' },
    });
    await mutate(sandbox, { op: 'patch', list: 'sessions', id: 5001, item: { name: 'Renamed' } });
    const votes = await sandbox.walk(
      `/v2/pigeonholes/${P}/votes?filter[sessionId]=5001&filter[questionId]=${textOf(question)}`,
    );
    expect(votes).toHaveLength(3);
    for (const vote of votes) {
      expect(vote).toMatchObject({
        session: { name: 'Renamed' },
        question: { content: 'New text', status: 'archived' },
      });
    }
  });

  it('make a question anonymous only in qna-questions', async () => {
    const sandbox = await startTestSandbox();
    const before = await sandbox.truth(`questions?pigeonhole=${P}`);
    const id = idsOf(before)[0];
    const { item } = await mutate(sandbox, {
      op: 'patch',
      list: 'qna-questions',
      id,
      item: { attendee: { anonymous: true } },
    });
    expect(item['attendee']).toMatchObject({ id: expect.any(Number), anonymous: true });
    expect(await sandbox.truth(`questions?pigeonhole=${P}`)).toEqual(before);
  });

  it('move an item to another session', async () => {
    const sandbox = await startTestSandbox();
    const path = (session: number): string => `/v2/pigeonholes/${P}/votes?filter[sessionId]=${session}`;
    const before = (await sandbox.walk(path(5001))).length;
    const [first] = (await sandbox.truth(`votes?pigeonhole=${P}&session=5001&ids=1`)) as { id: number }[];
    await mutate(sandbox, { op: 'patch', list: 'votes', id: first?.id, item: { session: { id: 5011 } } });
    expect(await sandbox.walk(path(5001))).toHaveLength(before - 1);
    expect(await sandbox.walk(path(5011))).toHaveLength(before + 1);
  });

  it('delete an item from its lists, and restore a deleted item', async () => {
    const sandbox = await startTestSandbox();
    const before = await sandbox.truth(`questions?pigeonhole=${P}`);
    const id = idsOf(before)[3] as number;
    await mutate(sandbox, { op: 'delete', list: 'questions', id });
    expect(idsOf(await sandbox.truth(`questions?pigeonhole=${P}`))).not.toContain(id);
    expect(idsOf(await sandbox.truth(`qna-questions?pigeonhole=${P}`))).not.toContain(id);
    await mutate(sandbox, { op: 'insert', list: 'questions', item: before[3] });
    expect(await sandbox.truth(`questions?pigeonhole=${P}`)).toEqual(before);
  });

  it('delete a session with its items, and a pigeonhole with everything', async () => {
    const sandbox = await startTestSandbox();
    await mutate(sandbox, { op: 'delete', list: 'sessions', id: 5001 });
    expect((await sandbox.get(`/v2/pigeonholes/${P}/votes?filter[sessionId]=5001`)).body['code']).toBe(4509);
    const left = await sandbox.walk(`/v2/pigeonholes/${P}/questions`);
    expect(new Set(left.map((item) => (item['session'] as JsonObject)['id']))).toEqual(new Set([5011]));
    await sandbox.control('POST', 'mutations', { op: 'delete', list: 'pigeonholes', id: P });
    expect((await sandbox.get(`/v2/pigeonholes/${P}/attendees`)).body['code']).toBe(4504);
  });

  it('report a missing item', async () => {
    const sandbox = await startTestSandbox();
    await expect(mutate(sandbox, { op: 'patch', list: 'attendees', id: 5, item: {} })).rejects.toThrow(
      /404.*attendees has no item 5 to patch/,
    );
    await expect(mutate(sandbox, { op: 'explode', list: 'attendees' })).rejects.toThrow('400');
  });
});

describe('the control API', () => {
  it('shows an edit in a cached page', async () => {
    const sandbox = await startTestSandbox();
    const path = `/v2/pigeonholes/${P}/attendees?count=5`;
    const [first] = (await sandbox.page(path)).data;
    await mutate(sandbox, { op: 'patch', list: 'attendees', id: first?.['id'], item: { Company: 'Elsewhere' } });
    expect((await sandbox.page(path)).data[0]).toEqual({ ...first, Company: 'Elsewhere' });
  });

  it('shows an edit in a cached page with copies', async () => {
    const sandbox = await startTestSandbox();
    const path = `/v2/pigeonholes/${P}/votes?filter[sessionId]=5001&count=5`;
    const [first = {}] = (await sandbox.page(path)).data;
    const { id } = first['question'] as { id: number };
    await mutate(sandbox, { op: 'patch', list: 'questions', id, item: { question: { content: 'Edited' } } });
    expect((await sandbox.page(path)).data[0]).toMatchObject({ question: { id, content: 'Edited' } });
    await mutate(sandbox, { op: 'patch', list: 'sessions', id: 5001, item: { name: 'Renamed' } });
    expect((await sandbox.page(path)).data[0]).toMatchObject({ session: { name: 'Renamed' } });
  });

  it.each(['attendees', 'questions', 'qna-questions', 'answers', 'sessions', 'registrants'])(
    'edits an evenly spread share of %s',
    async (list) => {
      const sandbox = await startTestSandbox();
      const before = await sandbox.truth(`${list}?pigeonhole=${P}`);
      const { touched } = await sandbox.control('POST', 'touch', { pigeonhole: P, list, share: 0.25 });
      const after = await sandbox.truth(`${list}?pigeonhole=${P}`);
      const changed = after.filter((item, at) => JSON.stringify(item) !== JSON.stringify(before[at]));
      expect(changed).toHaveLength(Math.round(before.length / 4));
      expect(touched).toHaveLength(changed.length);
    },
  );

  it('deletes the interactions of a pigeonhole, and keeps its people and sessions', async () => {
    const sandbox = await startTestSandbox();
    await sandbox.control('POST', 'clear', { pigeonhole: P });
    expect(await sandbox.walk(`/v2/pigeonholes/${P}/poll-mcq-votes`)).toEqual([]);
    expect(await sandbox.walk(`/v2/pigeonholes/${P}/questions?filter[sessionId]=5001`)).toEqual([]);
    expect(await sandbox.walk(`/v2/pigeonholes/${P}/attendees`)).toHaveLength(60);
    await sandbox.control('POST', 'events', { count: 5, kind: 'question' });
    expect(await sandbox.walk(`/v2/pigeonholes/${P}/questions`)).toHaveLength(5);
  });

  it('revokes and accepts keys', async () => {
    const sandbox = await startTestSandbox();
    await sandbox.control('POST', 'keys', { accepted: ['fresh'] });
    expect((await sandbox.get('/v2/pigeonholes')).status).toBe(401);
    expect((await sandbox.get('/v2/pigeonholes', { 'X-API-KEY': 'fresh' })).status).toBe(200);
  });

  it('counts and logs only requests to the service, and deletes the log on request', async () => {
    const sandbox = await startTestSandbox();
    await sandbox.get(`/v2/pigeonholes/${P}/attendees?count=5`);
    await sandbox.get('/v2/no');
    const { requests } = await sandbox.control('GET', 'state');
    expect(requests).toEqual({
      total: 2,
      inFlight: 0,
      byPathAndCode: { [`GET /v2/pigeonholes/${P}/attendees 200`]: 1, 'GET /v2/no 4502': 1 },
    });
    const logged = (await sandbox.control('GET', 'requests?last=1'))['requests'] as JsonObject[];
    expect(logged).toMatchObject([
      { method: 'GET', path: '/v2/no', query: '', status: 404, code: 4502, inFlight: 1, faults: [] },
    ]);
    expect(await sandbox.control('DELETE', 'requests')).toMatchObject({ total: 0 });
  });

  it('sets order and cursor of one list', async () => {
    const sandbox = await startTestSandbox();
    const rising = idsOf(await sandbox.walk(`/v2/pigeonholes/${P}/attendees`));
    const sessions = idsOf(await sandbox.walk(`/v2/pigeonholes/${P}/sessions`));
    await sandbox.control('POST', 'lists/attendees', { order: 'descending', cursor: 'offset' });
    expect(idsOf(await sandbox.walk(`/v2/pigeonholes/${P}/attendees`, 7))).toEqual(rising.toReversed());
    expect(idsOf(await sandbox.walk(`/v2/pigeonholes/${P}/sessions`))).toEqual(sessions);
    await sandbox.control('DELETE', 'knobs');
    expect(idsOf(await sandbox.walk(`/v2/pigeonholes/${P}/attendees`))).toEqual(rising);
  });

  it('refuses an unknown path, an unknown knob and a foreign host', async () => {
    const sandbox = await startTestSandbox();
    await expect(sandbox.control('GET', 'nowhere')).rejects.toThrow('404');
    await expect(sandbox.control('PATCH', 'knobs', { gravity: 0 })).rejects.toThrow(/400.*gravity/);
  });
});
