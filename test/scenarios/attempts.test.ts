import { expireAttempts, listAttempts, readAttempt } from '../../ledger/attempts.js';
import type { AttemptContent } from '../../delivering/attempt-log.js';
import { finishRetention } from '../kit/finish-retention.js';
import { askToForget, forget } from '../kit/forget.js';
import { attendee, pollVote, session } from '../kit/items.js';
import { kinds } from '../kit/scenario-kinds.js';
import { everyone, type Stage, useStages } from '../kit/stage.js';

const stages = useStages();

/** Returns the attempts as `list:key try outcome cause`, newest first. */
async function logged({ db }: Stage, choice: Parameters<typeof listAttempts>[1] = {}): Promise<string[]> {
  const rows = await listAttempts(db, choice, { before: null, limit: 100 });
  return rows.map(({ list, key, try: n, outcome, cause }) => `${list}:${key} ${n} ${outcome} ${cause ?? '-'}`);
}

/** Returns the lists and keys of attempts whose content is stored. */
async function withContent({ db }: Stage): Promise<string[]> {
  const rows = await db.query<{ item: string }>(
    `select distinct list || ':' || key as item from attempts where content is not null order by 1`,
  );
  return rows.map(({ item }) => item);
}

describe.each(kinds)('the log of attempts, on %s', (kind) => {
  it('has each try with its request and its answer, and can be filtered', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', attendee(11, { Name: 'MARK-name' }));
    const scene = await stage.webhookScene(everyone);
    await stage.planAnswer({ status: 503, list: 'attendees', key: '11', count: 1 });
    await scene.settle();
    await stage.retriesAreDue();
    await scene.settle();
    expect(await logged(stage, { list: 'attendees' })).toEqual([
      'attendees:11 2 delivered -',
      'attendees:11 1 retry http-503',
    ]);
    expect(await logged(stage, { outcome: 'failed' })).toEqual(['attendees:11 1 retry http-503']);
    expect(await logged(stage, { cause: 'http-503', sink: 'hooks', pigeonhole: 'acme/101', key: '11' })).toHaveLength(
      1,
    );
    expect(await logged(stage, { sink: 'others' })).toEqual([]);
    expect(await logged(stage, { until: new Date(0) })).toEqual([]);

    const [failed] = await listAttempts(stage.db, { outcome: 'failed' }, { before: null, limit: 1 });
    expect(failed).toMatchObject({ sink: 'hooks', status: 503, state: 'delivered', hasContent: true });
    const full = await readAttempt(stage.db, failed!.number);
    const content = JSON.parse(full!.content!) as AttemptContent;
    expect(content.requests).toMatchObject([{ method: 'POST', body: expect.stringContaining('MARK-name') as string }]);
    expect(content.calls).toMatchObject([{ status: 503, shared: false, answer: { cut: false } }]);
    expect(full!.content).not.toContain('whsec_');
  });

  it('keeps nothing of a person who is forgotten, also of what is being sent at that time', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1));
    await stage.put('attendees', attendee(11, { Name: 'MARK-name' }), attendee(12));
    await stage.put('poll-mcq-votes', pollVote(51, { id: 11, anonymous: false }, 1));
    const scene = await stage.webhookScene(everyone);
    await scene.settle();
    expect(await withContent(stage)).toEqual(
      expect.arrayContaining(['attendees:11', 'attendees:12', 'poll-mcq-votes:51']),
    );
    // An attempt at a change that the ledger no longer has, because retention has dropped it.
    await stage.db.query(
      `insert into attempts (sink_id, pigeonhole_number, sequence, replay, list, key, revision, identity, try, duration_ms,
         outcome, detail, content)
       select sink_id, pigeonhole_number, 1000000, 0, list, key, revision, identity, 1, 0, 'rejected', 'MARK-said', content
       from attempts where list = 'attendees' and key = '11' limit 1`,
    );
    await stage.remove('attendees', 11);
    await forget(stage, scene, await askToForget(scene, { by: 'id', text: '11', asked: 'id:11' }));
    const left = await withContent(stage);
    expect(left).toContain('attendees:12');
    expect(left).not.toContain('attendees:11');
    expect(left).not.toContain('poll-mcq-votes:51');
    expect(await stage.db.query(`select 1 from attempts where detail = 'MARK-said'`)).toEqual([]);
  });

  it('keeps nothing with the identity of a person who withdraws consent', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1));
    await stage.put('attendees', attendee(11), attendee(12));
    await stage.put('poll-mcq-votes', pollVote(51, { id: 11, anonymous: false }, 1));
    const scene = await stage.webhookScene('consent: { accept: [obtained] }, onConsentWithdrawn: forget');
    await scene.settle();
    expect(await withContent(stage)).toEqual(expect.arrayContaining(['attendees:11', 'poll-mcq-votes:51']));
    await stage.patch('attendees', 11, { consent: { obtained: false } });
    await stage.pollsAreDue();
    await scene.settle();
    const left = await withContent(stage);
    expect(left).toContain('attendees:12');
    expect(left).not.toContain('attendees:11');
    expect(left).not.toContain('poll-mcq-votes:51');
  });

  it('keeps nothing with the identity of an author who becomes anonymous', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1));
    await stage.put('attendees', attendee(11));
    await stage.put('poll-mcq-votes', pollVote(51, { id: 11, anonymous: false }, 1));
    const scene = await stage.webhookScene(everyone);
    await scene.settle();
    const named = (await listAttempts(stage.db, { key: '51' }, { before: null, limit: 9 })).at(-1)!;
    expect((await readAttempt(stage.db, named.number))!.content).toContain('"id\\":');
    await stage.patch('poll-mcq-votes', 51, { attendee: { anonymous: true } });
    await stage.sweepsAreDue();
    await scene.settle();
    expect(await readAttempt(stage.db, named.number)).toMatchObject({ content: null, hasContent: false });
  });

  it('keeps nothing longer than the item, and no attempt longer than `retention.attempts`', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1));
    await stage.put('attendees', attendee(11));
    const scene = await stage.webhookScene(everyone);
    await scene.settle();
    await stage.db.query(`update pigeonholes set ended_at = now() - interval '20 days'`);
    const retention = { listsMs: { attendees: 86_400_000 }, changesMs: 86_400_000, attemptsMs: 86_400_000 };
    await finishRetention({ ...scene.deps, config: { ...scene.deps.config, retention } });
    expect(await withContent(stage)).toContain('sessions:1');
    expect(await withContent(stage)).not.toContain('attendees:11');
    expect(await logged(stage, { list: 'attendees' })).toHaveLength(1);

    await stage.db.query(`update attempts set at = at - interval '25 hours' where list = 'attendees'`);
    await expireAttempts(stage.db, 86_400_000);
    expect(await logged(stage, { list: 'attendees' })).toEqual([]);
    expect(await logged(stage, { list: 'sessions' })).toHaveLength(1);
  });

  it('removes a content that was stored while its item became anonymous', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', attendee(11));
    const scene = await stage.webhookScene(everyone);
    await scene.settle();
    await stage.db.query(`update items set consent = 'refused' where list = 'attendees'`);
    await expireAttempts(stage.db, 86_400_000);
    expect(await withContent(stage)).not.toContain('attendees:11');
  });
});
