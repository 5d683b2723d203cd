import { kinds } from '../kit/scenario-kinds.js';
import { attendee, pollVote, question, session } from '../kit/items.js';
import type { Scene } from '../kit/scene.js';
import { archived, pigeonhole, type Stage, useStages } from '../kit/stage.js';

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

const answer = (id: number, sessionId: number, attendeeId = 5) => ({
  attendeeId,
  createdAt: '2026-11-21T08:00:00.000Z',
  session: { id: sessionId, name: `Session ${sessionId}`, type: 'poll_word_cloud' },
  answer: { id, content: 'word', status: 'approved' },
});

describe.each(kinds)('sweeps between polls, on %s', (kind) => {
  it('notice a deletion even if a poll found the item just before the sweep started', async () => {
    const stage = await stages.open(kind);
    await stage.control('PATCH', 'knobs', { maxPerPage: 10 });
    await stage.put('attendees', ...people(25));
    const scene = await stage.scene();
    await scene.settle();
    await stage.sweepsAreDue();
    await scene.settle();
    await stage.put('attendees', attendee(26));
    await polls(stage, scene, 1); // a poll, and the first page of a new sweep
    expect(story(scene, 'attendees', 26)).toEqual(['1 created']);
    await stage.remove('attendees', 26);
    for (let time = 0; time < 3; time += 1) {
      await stage.timePasses(16_000); // one of 26 is a large share, so an answer half a minute later must confirm it
      await stage.sweepsAreDue();
      await scene.settle();
    }
    expect(story(scene, 'attendees', 26)).toEqual(['1 created', '2 deleted']);
  });

  it('find a moderator’s edit on any page of a live list of questions with the next poll, even after the list has grown', async () => {
    const stage = await stages.open(kind);
    await stage.control('PATCH', 'knobs', { maxPerPage: 10 });
    await stage.put('sessions', session(1, { anonymousResponses: false }));
    await stage.put('questions', ...Array.from({ length: 40 }, (_, index) => question(index + 1, 1, 1)));
    const scene = await stage.scene();
    await scene.settle();
    for (const id of [1, 15, 40]) {
      await stage.put('questions', question(40 + id, 1, 1)); // one page more than before
      await stage.patch('questions', id, { question: { status: 'dismissed' } });
      await polls(stage, scene, 1);
      expect(story(scene, 'questions', id)).toEqual(['1 created', '2 updated']);
    }
  });

  it('of an unordered list continue at the pace of its polls', async () => {
    const stage = await stages.open(kind);
    await stage.control('PATCH', 'knobs', { maxPerPage: 1, order: 'unordered' });
    await stage.put('sessions', session(1, { anonymousResponses: false }));
    await stage.put('questions', ...Array.from({ length: 45 }, (_, index) => question(index + 1, 1, 1)));
    await (await stage.scene({ sync: 'every: { live: 1h, sweep: 30m }' })).settle(); // one complete sweep
    const scene = await stage.scene({ sync: 'every: { live: 2s, sweep: 30m }' });
    for (let slice = 0; slice < 2; slice += 1) {
      await stage.pollsAreDue();
      // simulates the cycles of a real minute
      await stage.db.query(`update walks set started_at = started_at - interval '1 minute'`);
      await scene.read({ workspace: 'acme', pigeonholeId: pigeonhole });
      await scene.save();
    }
    const [row] = await stage.db.query<{ in_s: number; pages: number }>(
      `select extract(epoch from due_at - clock_timestamp())::float8 as in_s, w.pages
       from streams s join walks w on w.stream_id = s.id and w.kind = 'sweep' where list = 'questions'`,
    );
    expect(row!.pages).toBe(20);
    expect(row!.in_s).toBeLessThan(10);
  });

  it('do not retry an unreadable stream even if an answer is missing in another session', async () => {
    const stage = await stages.open(kind);
    const sessions = [1, 2].map((id) => session(id, { type: 'poll_word_cloud', anonymousResponses: false }));
    await stage.put('sessions', ...sessions);
    await stage.put('attendees', attendee(5));
    await stage.put('answers', answer(1, 1), answer(2, 1), answer(3, 2));
    const scene = await stage.scene({ sync: 'every: { live: 10m }\ndeletions: { confirm: 10m }' }); // nothing is due by time
    await scene.settle();
    await stage.fault({ kind: 'error', list: 'answers', session: 2, code: 9000 });
    await stage.remove('answers', 2);
    await stage.pollsAreDue();
    for (let turn = 0; turn < 5; turn += 1) await scene.read({ workspace: 'acme', pigeonholeId: pigeonhole });
    // Its first waits are about 1, 2 and 4 s. It would fail in each of the five cycles if the missing answer made it due.
    const rows = await stage.db.query<{ session_id: number; failures: number }>(
      `select session_id, failures from streams where list = 'answers' order by session_id`,
    );
    expect(rows).toEqual([{ session_id: 1, failures: 0 }, expect.objectContaining({ session_id: 2 })]);
    expect(rows[1]!.failures).toBeGreaterThan(0);
    expect(rows[1]!.failures).toBeLessThan(5);
    expect(story(scene, 'answers', 2)).toEqual(['1 created']);
    await stage.control('DELETE', 'faults');
    await stage.timePasses(601_000);
    await polls(stage, scene, 3);
    expect(story(scene, 'answers', 2)).toEqual(['1 created', '2 deleted']);
  });

  it('do not delay polls if a page cannot be read', async () => {
    const stage = await stages.open(kind);
    await stage.control('PATCH', 'knobs', { maxPerPage: 10 });
    await stage.put('attendees', ...people(25));
    const scene = await stage.scene({ sync: 'every: { live: 2m }' }); // longer than the test: one failure
    await scene.settle();
    for (const [code, hasCursor] of [
      [5000, false],
      [9000, false],
    ] as const) {
      await stage.fault({ kind: 'error', list: 'attendees', hasCursor, code }); // the first page; a poll has a cursor
      await stage.sweepsAreDue();
      const [before] = await stage.db.query<{ now: string }>('select clock_timestamp()::text as now');
      await scene.settle();
      // counted from before the failure and from after it, so that the bounds hold on a slow machine
      const [row] = await stage.db.query<{ from_start_s: number; from_now_s: number; failures: number }>(
        `select extract(epoch from due_at - $1::timestamptz)::float8 as from_start_s,
                extract(epoch from due_at - clock_timestamp())::float8 as from_now_s, failures
         from streams where list = 'attendees'`,
        [before!.now],
      );
      expect(row!.failures).toBe(1);
      expect(row!.from_start_s).toBeGreaterThan(119);
      expect(row!.from_now_s).toBeLessThan(121);
      await stage.control('DELETE', 'faults');
    }
  });

  it('are completed before pigeonpost stops reading an ended pigeonhole', async () => {
    const stage = await stages.open(kind);
    await stage.control('PATCH', 'knobs', { maxPerPage: 1 });
    await stage.put('attendees', ...people(15));
    const scene = await stage.scene();
    await scene.settle();
    await stage.patch('pigeonholes', pigeonhole, { status: 'ended' });
    await polls(stage, scene, 1);
    await stage.db.query(`update pigeonholes set ended_at = now() - interval '170 hours' where pigeonhole_id <> 0`);
    await stage.db.query(
      `update streams set swept_at = now() - interval '3 days', sweep_due_at = null, due_at = now() where list = 'attendees'`,
    );
    await scene.read({ workspace: 'acme', pigeonholeId: pigeonhole }); // one cycle: the sweep continues a few seconds later
    const [row] = await stage.db.query<{ pages: number; in_s: number }>(
      `select w.pages, extract(epoch from due_at - clock_timestamp())::float8 as in_s
       from streams s join walks w on w.stream_id = s.id where list = 'attendees'`,
    );
    expect(row!.pages).toBe(10);
    expect(row!.in_s).toBeLessThan(10);
  });

  it('continue if the service does not accept a filter', async () => {
    const stage = await stages.open(kind);
    await stage.control('PATCH', 'knobs', { maxPerPage: 10, order: 'unordered' });
    await stage.put('sessions', session(1, { anonymousResponses: false }));
    await stage.put(
      'poll-mcq-votes',
      ...people(25).map((_, index) => pollVote(index + 1, { id: index + 1, anonymous: false }, 1)),
    );
    const scene = await stage.scene();
    await scene.settle();
    await stage.remove('poll-mcq-votes', 15);
    await stage.fault({ kind: 'error', list: 'poll-mcq-votes', hasCursor: false, skip: 1, next: 1, code: 4502 });
    await stage.sweepsAreDue();
    await scene.settle();
    const [row] = await stage.db.query(
      `select s.failures, m.looked_up_at is not null as looked from streams s join missing m on m.stream_id = s.id`,
    );
    expect(row).toEqual({ failures: 0, looked: true });
    expect(story(scene, 'poll-mcq-votes', 15)).toEqual(['1 created']);
  });
});
