import type { JsonObject } from '../json.js';
import { closeSandboxes, startTestSandbox, type TestSandbox } from '../sandbox-client.test-kit.js';

afterEach(closeSandboxes);

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
