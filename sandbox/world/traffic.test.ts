import { isJsonObject, type JsonObject } from '../json.js';
import { closeSandboxes, startTestSandbox, textOf, type TestSandbox } from '../sandbox-client.test-kit.js';
import { EVENT_KINDS } from './traffic.js';

afterEach(closeSandboxes);

const QNA = 'qna-questions?pigeonhole=101';

async function counts(sandbox: TestSandbox): Promise<JsonObject> {
  const { pigeonholes } = await sandbox.control('GET', 'state');
  return (pigeonholes as JsonObject[])[0]?.['counts'] as JsonObject;
}

/** Returns the truth of a list without instants, which are the only values that depend on the clock. */
async function timeless(sandbox: TestSandbox, list: string): Promise<string> {
  return JSON.stringify(await sandbox.truth(`${list}?pigeonhole=101`), (key, value: unknown) =>
    ['createdAt', 'signInTime', 'obtainedAt'].includes(key) ? null : value,
  );
}

describe('live traffic', () => {
  it('is the same for the same seed', async () => {
    const run = async (seed: number): Promise<string> => {
      const sandbox = await startTestSandbox({ seed });
      await sandbox.control('POST', 'events', { count: 300 });
      return (
        (await timeless(sandbox, 'votes')) +
        (await timeless(sandbox, 'attendees')) +
        (await timeless(sandbox, 'questions'))
      );
    };
    const first = await run(1);
    expect(await run(1)).toBe(first);
    expect(await run(2)).not.toBe(first);
  });

  it('adds to every list of responses, in the same session in both lists of questions', async () => {
    const sandbox = await startTestSandbox();
    const before = await counts(sandbox);
    await sandbox.control('POST', 'events', { count: 400 });
    const after = await counts(sandbox);
    for (const list of [
      'attendees',
      'questions',
      'votes',
      'answer_ratings',
      'answers',
      'poll-mcq-votes',
      'poll-quiz-votes',
    ]) {
      expect(after[list]).toBeGreaterThan(before[list] as number);
    }
    expect(after['qna-questions']).toBe(after['questions']);
  });

  it.each(EVENT_KINDS)('event %s changes something', async (kind) => {
    const sandbox = await startTestSandbox();
    const everything = async (): Promise<string> => {
      const parts = [];
      for (const list of Object.keys(await counts(sandbox))) parts.push(await sandbox.truth(`${list}?pigeonhole=101`));
      return JSON.stringify(parts);
    };
    const before = await everything();
    await sandbox.control('POST', 'events', { count: 3, kind });
    expect(await everything()).not.toBe(before);
  });

  it('approves a waiting question after a while, with both names of the status', async () => {
    const sandbox = await startTestSandbox();
    await sandbox.control('POST', 'events', { count: 10, kind: 'question' });
    const waiting = (await sandbox.truth(QNA)).slice(24).find((item) => item['status'] === 'pending');
    expect(waiting).toBeDefined();
    await sandbox.control('POST', 'events', { count: 1, kind: 'moderation' });
    expect((await sandbox.truth(QNA)).find(({ id }) => id === waiting?.['id'])?.['status']).toBe('allowed');
    const listed = (await sandbox.truth('questions?pigeonhole=101')).map((item) => item['question'] as JsonObject);
    expect(listed.find(({ id }) => id === waiting?.['id'])?.['status']).toBe('approved');
  });

  it('withdraws questions by status, or by removal if configured', async () => {
    const sandbox = await startTestSandbox();
    await sandbox.control('POST', 'events', { count: 1, kind: 'withdrawal' });
    expect((await sandbox.truth(QNA)).filter((item) => item['status'] === 'withdrawn')).toHaveLength(1);
    await sandbox.control('PATCH', 'knobs', { withdrawal: 'remove' });
    await sandbox.control('POST', 'events', { count: 1, kind: 'withdrawal' });
    expect(await counts(sandbox)).toMatchObject({ questions: 23, 'qna-questions': 23 });
  });

  it('gives and withdraws consent', async () => {
    const sandbox = await startTestSandbox();
    const obtained = async (): Promise<unknown[]> =>
      (await sandbox.truth('attendees?pigeonhole=101')).map(
        ({ consent }) => isJsonObject(consent) && consent['obtained'],
      );
    const before = await obtained();
    await sandbox.control('POST', 'events', { count: 12, kind: 'consent' });
    const changes = (await obtained()).map((now, at) => `${String(before[at])} to ${String(now)}`);
    expect(changes).toContain('true to false');
    expect(changes).toContain('false to true');
  });

  it('records each change of consent, with the state before and after', async () => {
    const sandbox = await startTestSandbox();
    type Change = { id: number; from?: unknown; to?: unknown };
    const people = async (): Promise<Map<unknown, unknown>> =>
      new Map((await sandbox.truth('attendees?pigeonhole=101')).map(({ id, consent }) => [id, consent]));
    const before = await people();
    await sandbox.control('POST', 'events', { count: 12, kind: 'consent' });
    const { consents } = (await sandbox.control('GET', 'consents')) as { consents: Change[] };
    expect(consents.length).toBeGreaterThan(0);
    const shown = new Map(before);
    for (const { id, from, to } of consents) {
      expect(shown.get(id)).toEqual(from);
      shown.set(id, to);
    }
    expect(shown).toEqual(await people());
  });

  it('lets imported registrants sign in', async () => {
    const sandbox = await startTestSandbox();
    await sandbox.post('/v2/pigeonholes/101/registrants/bulk', { data: [{ attendeeCode: 'expected-1', Name: 'Ann' }] });
    await sandbox.control('POST', 'events', { count: 12, kind: 'signIn' });
    const people = await sandbox.walk('/v2/pigeonholes/101/attendees');
    expect(people.filter((person) => person['attendeeCode'] === 'expected-1')).toMatchObject([{ Name: 'Ann' }]);
  });

  it('inserts late rows below the newest id if configured', async () => {
    const sandbox = await startTestSandbox({ knobs: { lateRowShare: 1 } });
    const before = (await sandbox.truth('attendees?pigeonhole=101')).map((item) => item['id'] as number);
    await sandbox.control('POST', 'events', { count: 3, kind: 'signIn' });
    const after = (await sandbox.truth('attendees?pigeonhole=101')).map((item) => item['id'] as number);
    expect(after).toHaveLength(before.length + 3);
    expect(Math.max(...after)).toBe(Math.max(...before));
  });

  it('adds items with the current time', async () => {
    const sandbox = await startTestSandbox({ nowMs: Date.now() - 60_000 });
    const startedAtMs = Date.now();
    await sandbox.control('POST', 'events', { count: 1, kind: 'vote' });
    const votes = await sandbox.truth('votes?pigeonhole=101');
    const newest = Math.max(...votes.map((vote) => Date.parse(textOf(vote['createdAt']))));
    expect(newest).toBeGreaterThanOrEqual(startedAtMs);
    expect(newest).toBeLessThanOrEqual(Date.now());
  });

  it('runs until it is frozen, and continues after thaw', async () => {
    const sandbox = await startTestSandbox({ frozen: false, rate: 500 });
    const emitted = async (): Promise<number> => (await sandbox.control('GET', 'state'))['emitted'] as number;
    while ((await emitted()) < 20) await sandbox.get('/v2/pigeonholes');
    await sandbox.control('POST', 'freeze');
    const frozenAt = await emitted();
    const truth = await timeless(sandbox, 'attendees');
    // Three ticks of traffic, about seventy events, would fit into the duration of this response.
    await sandbox.control('POST', 'faults', { kind: 'delay', ms: 150, next: 1 });
    await sandbox.get('/v2/pigeonholes');
    expect(await emitted()).toBe(frozenAt);
    expect(await timeless(sandbox, 'attendees')).toBe(truth);
    await sandbox.control('POST', 'thaw', { rate: 1000 });
    while ((await emitted()) < frozenAt + 20) await sandbox.get('/v2/pigeonholes');
  });
});

async function absences(sandbox: TestSandbox): Promise<JsonObject[]> {
  return (await sandbox.control('GET', 'absences'))['absences'] as JsonObject[];
}

async function idsOf(sandbox: TestSandbox, list: string): Promise<number[]> {
  return (await sandbox.truth(`${list}?pigeonhole=101`)).map((item) => item['id'] as number);
}

describe('an item that is deleted', () => {
  it('is recorded as absent, a question in both of its lists', async () => {
    const sandbox = await startTestSandbox();
    const [id] = await idsOf(sandbox, 'qna-questions');
    await sandbox.control('POST', 'mutations', { op: 'delete', list: 'questions', pigeonhole: 101, id: id! });
    expect(await absences(sandbox)).toMatchObject([
      { list: 'questions', pigeonholeId: 101, id, item: { question: { id } }, backAt: null },
      { list: 'qna-questions', pigeonholeId: 101, id, item: { id }, backAt: null },
    ]);
  });

  it('is restored with its edits in its old position', async () => {
    const sandbox = await startTestSandbox();
    const before = await sandbox.truth('qna-questions?pigeonhole=101');
    const [first, second] = before.map((item) => item['id'] as number);
    const of = (id: number): JsonObject => ({ list: 'qna-questions', pigeonhole: 101, id });
    await sandbox.control('POST', 'mutations', { op: 'patch', ...of(second!), item: { content: 'edited' } });
    await sandbox.control(
      'POST',
      'mutations',
      [first!, second!].map((id) => ({ op: 'delete', ...of(id) })),
    );
    expect((await sandbox.truth('qna-questions?pigeonhole=101')).length).toBe(before.length - 2);
    await sandbox.control(
      'POST',
      'mutations',
      [second!, first!].map((id) => ({ op: 'restore', ...of(id) })),
    );
    const after = await sandbox.truth('qna-questions?pigeonhole=101');
    expect(after).toEqual(before.map((item) => (item['id'] === second ? { ...item, content: 'edited' } : item)));
    expect(await sandbox.walk('/v2/pigeonholes/101/qna-questions')).toEqual(after);
    expect((await absences(sandbox)).filter(({ backAt }) => backAt === null)).toEqual([]);
  });

  it('is deleted with all of its items if it is a session, and each deletion is recorded', async () => {
    const sandbox = await startTestSandbox();
    const votes = (await sandbox.truth('votes?pigeonhole=101&session=5001')).length;
    await sandbox.control('POST', 'mutations', { op: 'delete', list: 'sessions', pigeonhole: 101, id: 5001 });
    expect((await absences(sandbox)).filter(({ list }) => list === 'votes')).toHaveLength(votes);
  });

  it('cannot be restored if it was never deleted', async () => {
    const sandbox = await startTestSandbox();
    const restore = sandbox.control('POST', 'mutations', { op: 'restore', list: 'attendees', pigeonhole: 101, id: 1 });
    await expect(restore).rejects.toThrow('no item 1 was deleted from attendees');
  });
});

describe('live events that remove or move items', () => {
  it('withdraw votes', async () => {
    const sandbox = await startTestSandbox();
    const before = await sandbox.truth('votes?pigeonhole=101');
    await sandbox.control('POST', 'events', { count: 3, kind: 'voteWithdrawal' });
    expect(await sandbox.truth('votes?pigeonhole=101')).toHaveLength(before.length - 3);
  });

  it('restore deleted items', async () => {
    const sandbox = await startTestSandbox();
    await sandbox.control('POST', 'events', { count: 4, kind: 'deletion' });
    await sandbox.control('POST', 'events', { count: 8, kind: 'reappearance' });
    expect((await absences(sandbox)).filter(({ backAt }) => backAt !== null).length).toBeGreaterThan(3);
  });

  it('move questions to another session, in both of their lists', async () => {
    const sandbox = await startTestSandbox();
    const sessions = async (list: string): Promise<unknown[]> =>
      (await sandbox.truth(`${list}?pigeonhole=101`)).map((item) => (item['session'] as JsonObject)['id']);
    const before = await sessions('questions');
    await sandbox.control('POST', 'events', { count: 5, kind: 'move' });
    const after = await sessions('questions');
    expect(after).not.toEqual(before);
    expect(await sessions('qna-questions')).toEqual(after);
  });

  it('happen at the configured frequency', async () => {
    const sandbox = await startTestSandbox();
    const none = Object.fromEntries(['voteWithdrawal', 'deletion', 'reappearance'].map((kind) => [kind, 0]));
    await sandbox.control('PATCH', 'knobs', { traffic: none });
    await sandbox.control('POST', 'events', { count: 300 });
    expect(await absences(sandbox)).toEqual([]);
    await sandbox.control('PATCH', 'knobs', { traffic: { ...none, voteWithdrawal: 1000 } });
    await sandbox.control('POST', 'events', { count: 20 });
    expect((await absences(sandbox)).length).toBeGreaterThan(10);
  });
});
