import { apiSources, asLocalUser } from '../../api/api-sources.test-kit.js';
import { createApp } from '../../api/create-app.js';
import { type RunningDouble, serveDouble } from '../../sandbox/serve/serve-double.js';
import { kinds } from '../kit/scenario-kinds.js';
import { decideHold, heldItems, openHolds } from '../../reading/holds.js';
import { attendee, pollVote, qnaQuestion, question, session, vote } from '../kit/items.js';
import type { Scene } from '../kit/scene.js';
import { archived, pigeonhole, type Stage, useStages } from '../kit/stage.js';

const stages = useStages();
const people = (count: number, from = 1) => Array.from({ length: count }, (_, index) => attendee(from + index));
const story = (scene: Scene, list: string, key: string | number): string[] =>
  archived(scene, list, key).map(({ type, revision }) => `${revision} ${type.split('.')[1]}`);

/** Polls come due and are taken, so often. */
async function polls(stage: Stage, scene: Scene, times: number): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    await stage.pollsAreDue();
    await scene.settle();
  }
}

/** Polls come due, and once more when the time to confirm is over. */
async function confirmed(stage: Stage, scene: Scene): Promise<void> {
  await polls(stage, scene, 1);
  await stage.timePasses(31_000);
  await polls(stage, scene, 1);
}

/** With this interval, the lists of a live event do not become due during a test, however slow the machine is. */
const rarelyDue = 'every: { live: 10m }';

/** As if the present sequence of pages, and what is missing, had been so for a day. */
async function aDayPasses(stage: Stage): Promise<void> {
  await stage.db.query(`update streams set sequence_since = sequence_since - interval '25 hours'`);
  await stage.db.query(
    `update missing set since = since - interval '25 hours', evident_at = evident_at - interval '25 hours',
       confirm_at = confirm_at - interval '25 hours', looked_up_at = null`,
  );
}

async function deletedKeys(stage: Stage, list: string): Promise<string[]> {
  const rows = await stage.db.query<{ key: string }>(
    `select key from items where list = $1 and payload is null order by key`,
    [list],
  );
  return rows.map(({ key }) => key);
}

/** Lets the service report that the pigeonhole does not exist until it counts as gone. */
async function refuseUntilGone(stage: Stage, scene: Scene): Promise<void> {
  await stage.fault({ kind: 'error', code: 4504, pigeonhole });
  for (let time = 0; time < 4; time += 1) {
    await polls(stage, scene, 1);
    await stage.db.query(`update streams set gone_since = gone_since - interval '11 minutes' where gone_count > 0`);
  }
}

describe.each(kinds)('items that disappear from the service, on %s', (kind) => {
  it('is deleted when a second answer confirms it, and its revisions continue when it returns', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', ...people(3));
    const scene = await stage.scene({ sync: 'deletions: { confirm: 10m }' }); // longer than the test
    await scene.settle();
    await stage.remove('attendees', 2);
    await polls(stage, scene, 2);
    expect(story(scene, 'attendees', 2)).toEqual(['1 created']);
    await stage.timePasses(601_000);
    await polls(stage, scene, 1);
    expect(story(scene, 'attendees', 2)).toEqual(['1 created', '2 deleted']);
    expect(archived(scene, 'attendees', 2)[1]!.data).toBeNull();
    await polls(stage, scene, 2);
    await stage.put('attendees', attendee(2));
    await polls(stage, scene, 1);
    expect(story(scene, 'attendees', 2)).toEqual(['1 created', '2 deleted', '3 created']);
    expect(await deletedKeys(stage, 'attendees')).toEqual([]);
  });

  describe('at a log', () => {
    let log: RunningDouble;
    beforeEach(async () => {
      log = await serveDouble({ answer: () => ({ status: 200, json: {} }), state: () => [] }, {});
    });
    afterEach(() => log.close());

    /** A log that accepts only question 41, and three questions. */
    async function threeQuestions(): Promise<{ stage: Stage; scene: Scene }> {
      const stage = await stages.open(kind);
      await stage.put('sessions', session(1));
      await stage.put('questions', ...[41, 42, 43].map((id) => question(id, 1, 1)));
      const event = `{ method: POST, url: '"/" & change.type', body: change.key }`;
      const scene = await stage.scene({
        sinks: {
          log: `{ type: http, baseUrl: "${log.url}", revisions: every, records: [
            { from: questions, when: change.key = "41", create: ${event}, update: ${event}, delete: ${event} } ] }`,
        },
      });
      return { stage, scene };
    }
    const sent = () => log.requests.map(({ path, body }) => `${path} ${body}`);

    it('are not deleted if "when" was false', async () => {
      const { stage, scene } = await threeQuestions();
      await scene.settle();
      await stage.remove('questions', 41);
      await stage.remove('questions', 42);
      await confirmed(stage, scene);
      expect(await deletedKeys(stage, 'questions')).toEqual(['41', '42']);
      expect(sent()).toEqual(['/questions.created "41"', '/questions.deleted "41"']);
    });

    it('are deleted if the ledger no longer shows whether they were delivered', async () => {
      const { stage, scene } = await threeQuestions();
      await scene.settle();
      await stage.db.query(`delete from deliveries where list = 'questions' and key = '41'`);
      await stage.remove('questions', 41);
      await confirmed(stage, scene);
      expect(sent()).toEqual(['/questions.created "41"', '/questions.deleted "41"']);
    });

    it('are deleted if they were created after the last delivery', async () => {
      const { stage, scene } = await threeQuestions();
      await scene.discover();
      const read = async (): Promise<void> => {
        await stage.pollsAreDue();
        for (let time = 0; time < 3; time += 1) await scene.read({ workspace: 'acme', pigeonholeId: pigeonhole });
      };
      await read();
      await stage.remove('questions', 41);
      await read();
      await stage.timePasses(31_000);
      await read();
      expect(await deletedKeys(stage, 'questions')).toEqual(['41']);
      await scene.settle();
      expect(sent()).toEqual(['/questions.created "41"', '/questions.deleted "41"']);
    });
  });

  it('is deleted in an ascending list after two walks that show its place without it, and not after one', async () => {
    const stage = await stages.open(kind);
    await stage.control('PATCH', 'knobs', { maxPerPage: 10 });
    await stage.put('attendees', ...people(25));
    const scene = await stage.scene();
    await scene.settle();
    await stage.remove('attendees', 15);
    await stage.sweepsAreDue();
    await scene.settle();
    await stage.timePasses(31_000);
    expect(story(scene, 'attendees', 15)).toEqual(['1 created']);
    await stage.sweepsAreDue();
    await scene.settle();
    expect(story(scene, 'attendees', 15)).toEqual(['1 created', '2 deleted']);
  });

  it('is deleted even if it was only in the part of the first walk that had to be repeated', async () => {
    const stage = await stages.open(kind);
    await stage.control('PATCH', 'knobs', { maxPerPage: 10 });
    await stage.put('attendees', ...people(25));
    const during = { afterPage: 1, insert: 0, remove: 1, where: 'behind', next: 1 };
    await stage.fault({ kind: 'changeDuringWalk', list: 'attendees', ...during });
    await stage.fault({ kind: 'error', code: 4502, list: 'attendees', hasCursor: true, next: 1 });
    const scene = await stage.scene();
    await scene.settle();
    expect(archived(scene, 'attendees').map(({ type }) => type)).toEqual(Array(25).fill('attendees.created'));
    await stage.timePasses(31_000);
    await stage.sweepsAreDue();
    await scene.settle();
    expect(await deletedKeys(stage, 'attendees')).toHaveLength(1);
  });

  it.each([
    ['by the next poll of a live list of questions, if it was in the list for a while', '2 minutes', 1],
    ['by the poll after that, where it has only just appeared', '0 minutes', 2],
  ])('is deleted %s', async (_, age, pollsNeeded) => {
    const stage = await stages.open(kind);
    await stage.control('PATCH', 'knobs', { maxPerPage: 10 });
    await stage.put('sessions', session(1, { anonymousResponses: false }));
    await stage.put('questions', ...Array.from({ length: 45 }, (__, index) => question(index + 1, 1, 1)));
    const scene = await stage.scene({ sync: rarelyDue });
    await scene.settle();
    await polls(stage, scene, 1); // the first one that is not part of a first read
    await stage.db.query(`update changes set found_at = found_at - interval '${age}'`);
    await stage.remove('questions', 15);
    const told: string[][] = [];
    for (let poll = 0; poll < pollsNeeded; poll += 1) {
      told.push(story(scene, 'questions', 15));
      await polls(stage, scene, 1);
    }
    expect([...told, story(scene, 'questions', 15)]).toEqual([
      ...Array.from({ length: pollsNeeded }, () => ['1 created']),
      ['1 created', '2 deleted'],
    ]);
  });

  it('does not cause endless walks if no walk can prove it: a question at the end of a full last page', async () => {
    const stage = await stages.open(kind);
    await stage.control('PATCH', 'knobs', { maxPerPage: 10 });
    await stage.put('sessions', session(1, { anonymousResponses: false }));
    await stage.put('questions', ...Array.from({ length: 41 }, (__, index) => question(index + 1, 1, 1)));
    const scene = await stage.scene({ sync: rarelyDue });
    await scene.settle();
    await stage.db.query(`update changes set found_at = found_at - interval '2 minutes'`);
    await stage.remove('questions', 41);
    await stage.pollsAreDue();
    const turn = await scene.read({ workspace: 'acme', pigeonholeId: pigeonhole });
    expect(turn.nextDueInMs).toBeGreaterThan(0);
    expect(story(scene, 'questions', 41)).toEqual(['1 created']);
  });

  it('is not reported if the list ends too early at a full page', async () => {
    const stage = await stages.open(kind);
    await stage.control('PATCH', 'knobs', { maxPerPage: 10 });
    await stage.put('attendees', ...people(25));
    const scene = await stage.scene();
    await scene.settle();
    await stage.fault({ kind: 'earlyEnd', list: 'attendees', hasCursor: false, next: 3 });
    for (let time = 0; time < 3; time += 1) {
      await stage.sweepsAreDue();
      await scene.settle();
    }
    expect(await deletedKeys(stage, 'attendees')).toEqual([]);
  });

  it('is deleted in a list without order only when two walks a day apart show the same pages', async () => {
    const stage = await stages.open(kind);
    await stage.control('PATCH', 'knobs', { maxPerPage: 10, order: 'unordered' });
    await stage.put('attendees', ...people(25));
    const scene = await stage.scene();
    await scene.settle();
    await stage.remove('attendees', 15);
    for (let time = 0; time < 3; time += 1) {
      await stage.sweepsAreDue();
      await scene.settle();
    }
    expect(await deletedKeys(stage, 'attendees')).toEqual([]);
    await aDayPasses(stage);
    await stage.sweepsAreDue();
    await scene.settle();
    expect(await deletedKeys(stage, 'attendees')).toEqual(['15']);
  });

  it('is deleted in a list whose order differs in every walk, if nobody knows its author, after a day of walks', async () => {
    const stage = await stages.open(kind);
    await stage.control('PATCH', 'knobs', { maxPerPage: 10 });
    await stage.put('sessions', session(1));
    const anonymous = (id: number) => pollVote(id, { id, anonymous: true }, 1);
    await stage.put('poll-mcq-votes', ...people(45).map((_, index) => anonymous(index + 1)));
    await stage.fault({ kind: 'reorder', list: 'poll-mcq-votes' });
    const scene = await stage.scene({ sync: 'lists: [poll-mcq-votes]' });
    await scene.settle();
    const walks = async (times: number, everyMs: number): Promise<void> => {
      for (let time = 0; time < times; time += 1) {
        await stage.timePasses(everyMs);
        await stage.sweepsAreDue();
        await scene.settle();
      }
    };
    const idsLeft = async (): Promise<number[]> => {
      const path = `truth/poll-mcq-votes?pigeonhole=${pigeonhole}&ids=1`;
      const lines = (await (await fetch(`${stage.sandbox.baseUrl}/_control/${path}`)).text())
        .split('\n')
        .filter(Boolean);
      return lines.map((line) => (JSON.parse(line) as { id: number }).id);
    };
    // Each of these walks loses a row behind its first page, so that it overlooks another one.
    await stage.fault({ kind: 'changeDuringWalk', list: 'poll-mcq-votes', hasCursor: false, remove: 1, next: 3 });
    await walks(3, 3_600_000);
    await stage.remove('poll-mcq-votes', (await idsLeft())[0]!);
    await walks(5, 3_600_000);
    expect(await deletedKeys(stage, 'poll-mcq-votes')).toEqual([]);
    await walks(2, 20 * 3_600_000);
    const left = await idsLeft();
    const deleted = await deletedKeys(stage, 'poll-mcq-votes');
    expect([deleted.length, deleted.filter((key) => left.includes(Number(key)))]).toEqual([45 - left.length, []]);
    expect(left.length).toBeLessThan(44);
  });

  it('is checked immediately by a filter where the list supports one: a withdrawn vote in a list of many pages', async () => {
    const stage = await stages.open(kind);
    await stage.control('PATCH', 'knobs', { maxPerPage: 10 });
    await stage.put('sessions', session(1, { anonymousResponses: false }));
    await stage.put(
      'poll-mcq-votes',
      ...people(40).map((_, index) => pollVote(index + 1, { id: index + 1, anonymous: false }, 1)),
    );
    await stage.control('PATCH', 'knobs', { order: 'unordered' });
    const scene = await stage.scene();
    await scene.settle();
    await stage.remove('poll-mcq-votes', 15);
    await stage.requests();
    await stage.sweepsAreDue();
    await scene.settle();
    expect(story(scene, 'poll-mcq-votes', 15)).toEqual(['1 created', '2 deleted']);
    const filtered = (await stage.requests()).filter(({ query }) => query.includes('attendeeId'));
    expect(filtered).toHaveLength(2); // the walk over an unordered list does not count as an answer that lacks it
  });

  it('is reported once if one of two identical votes is withdrawn', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1, { anonymousResponses: false }));
    for (const id of [901, 902, 903]) await insertVote(stage, id, vote(12, id === 903 ? 8 : 7, 1));
    const scene = await stage.scene();
    await scene.settle();
    expect(archived(scene, 'votes')).toHaveLength(3);
    await stage.remove('votes', 901);
    await confirmed(stage, scene);
    expect(archived(scene, 'votes').map(({ type }) => type.split('.')[1])).toEqual([
      'created',
      'created',
      'created',
      'deleted',
    ]);
  });

  it('is reported as an update if an answer moves to another session', async () => {
    const stage = await stages.open(kind);
    const sessions = [1, 2].map((id) => session(id, { type: 'poll_word_cloud', anonymousResponses: false }));
    await stage.put('sessions', ...sessions);
    const answer = (id: number, sessionId: number) => ({
      attendeeId: 5,
      createdAt: '2026-11-21T08:00:00.000Z',
      session: { id: sessionId, name: `Session ${sessionId}`, type: 'poll_word_cloud' },
      answer: { id, content: 'word', status: 'approved' },
    });
    await stage.put('attendees', attendee(5));
    await stage.put('answers', answer(1, 1), answer(2, 1), answer(3, 2));
    const scene = await stage.scene();
    await scene.settle();
    await stage.remove('answers', 2);
    await stage.put('answers', answer(2, 2));
    await polls(stage, scene, 3);
    expect(story(scene, 'answers', 2)).toEqual(['1 created', '2 updated']);
    expect(archived(scene, 'answers', 2)[1]!.sessionId).toBe(2);
    await stage.remove('answers', 2);
    await confirmed(stage, scene);
    await polls(stage, scene, 2);
    expect(story(scene, 'answers', 2)).toEqual(['1 created', '2 updated', '3 deleted']);
  });

  it('is held if it affects many items: an operator must confirm exactly that set', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', ...people(40));
    const scene = await stage.scene({ sync: 'deletions: { holdAbove: { share: 10%, items: 5 } }' });
    await scene.settle();
    for (const { id } of people(12)) await stage.remove('attendees', id as number);
    await confirmed(stage, scene);
    expect(await deletedKeys(stage, 'attendees')).toEqual([]);
    const [hold] = await openHolds(scene.ledger);
    expect(hold).toMatchObject({ list: 'attendees', items: 12, ofItems: 40, pigeonholeId: pigeonhole });

    await stage.put('attendees', attendee(3)); // back before anyone has decided
    await polls(stage, scene, 1);
    expect(await heldItems(scene.ledger, hold!.id)).toHaveLength(11);
    expect(await decideHold(scene.ledger, hold!.id, 'confirmed')).toMatchObject({ items: 11 });
    expect(await decideHold(scene.ledger, hold!.id, 'confirmed')).toBeUndefined();
    await scene.settle();
    expect(story(scene, 'attendees', 1)).toEqual(['1 created', '2 deleted']);
    expect(story(scene, 'attendees', 3)).toEqual(['1 created']);
  });

  it('can be confirmed over the API only with the current number of held items', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', ...people(20));
    const scene = await stage.scene({ sync: 'deletions: { holdAbove: { share: 10%, items: 5 } }' });
    await scene.settle();
    for (const { id } of people(8)) await stage.remove('attendees', id as number);
    await confirmed(stage, scene);
    const { ledger, config, configuration } = scene.deps;
    const woken: string[] = [];
    const app = createApp(
      apiSources({
        ledger,
        config,
        configuration,
        starter: {
          start: async () => undefined,
          wakeReaders: () => undefined,
          wakeSinks: async (names) => void woken.push(...names),
        },
      }),
    );
    const ask = async (path: string, body?: object) => {
      const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
      const init = { headers: asLocalUser, ...sent };
      const answer = await app.request(`http://127.0.0.1/api/deletions${path}`, init);
      const given = (await answer.json()) as Record<string, unknown>;
      return { ...given, status: answer.status, names: given['names'] };
    };
    const { held } = (await ask('')) as unknown as { held: { id: number }[] };
    const path = `/${held[0]!.id}`;
    expect(held[0]).toMatchObject({ event: 'ACME Summit 101' });
    const shown = await ask(path);
    expect(shown).toMatchObject({ items: 8, keys: ['1', '2', '3', '4', '5', '6', '7', '8'] });
    expect([shown.names, JSON.stringify(shown)]).toMatchObject([
      Array(8).fill({ noun: 'an attendee', title: null, event: 'ACME Summit 101' }),
      expect.not.stringContaining('Person'),
    ]);
    expect((await ask(`${path}?personal=1`)).names).toMatchObject([{ title: 'Person 1' }, ...Array(7).fill({})]);
    const looks = `select target, detail from audit where action = 'list-personal'`;
    expect(await ledger.db.query(looks)).toMatchObject([{ target: 'pigeonhole:acme/101' }]);
    expect(await ask(path, { decision: 'confirmed', items: 7 })).toMatchObject({ status: 409 });
    expect(await ask(path, { decision: 'perhaps', items: 8 })).toMatchObject({ status: 400 });
    expect(await ask('/999', { decision: 'confirmed', items: 8 })).toMatchObject({ status: 404 });
    expect(await deletedKeys(stage, 'attendees')).toEqual([]);
    expect(await ask(path, { decision: 'confirmed', items: 8 })).toMatchObject({ status: 200, items: 8 });
    expect(await ask(path, { decision: 'confirmed', items: 8 })).toMatchObject({ status: 404 });
    expect([woken, await deletedKeys(stage, 'attendees')]).toEqual([['archive'], '12345678'.split('')]);
  });

  it('can be decided for a list, an event or everything, with the current number of items', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1, { anonymousResponses: false }));
    await stage.put('attendees', ...people(6));
    await stage.put('questions', ...people(4).map((_, index) => question(index + 1, 1, 1)));
    await stage.put('votes', ...people(5).map((_, index) => vote(1, index + 1, 1)));
    const scene = await stage.scene({ sync: 'lists: [sessions, attendees, questions, votes]' });
    await scene.settle();
    await stage.fault({ kind: 'shortList', pigeonhole });
    await confirmed(stage, scene);
    await confirmed(stage, scene);
    const { ledger, config, configuration } = scene.deps;
    const app = createApp(apiSources({ ledger, config, configuration }));
    const decide = async (body: object) => {
      const init = { headers: asLocalUser, method: 'POST', body: JSON.stringify(body) };
      const answer = await app.request('http://127.0.0.1/api/deletions', init);
      return { status: answer.status, ...((await answer.json()) as Record<string, unknown>) };
    };
    const list = await app.request('http://127.0.0.1/api/deletions', { headers: asLocalUser });
    const { held } = (await list.json()) as { held: { list: string; sessions: object[] }[] };
    expect(held.find((each) => each.list === 'votes')!.sessions).toEqual([
      { sessionId: 1, title: 'Session 1', items: 5 },
    ]);
    const event = { workspace: 'acme', pigeonholeId: pigeonhole };
    const reject = { decision: 'rejected' };
    expect(await decide({ ...reject, items: 3, list: 'votes' })).toMatchObject({ status: 409 });
    expect(await decide({ ...reject, items: 5, pigeonholeId: pigeonhole })).toMatchObject({ status: 400 });
    expect(await decide({ ...reject, items: 5, ...event, list: 'answers' })).toMatchObject({ status: 404 });
    expect(await decide({ ...reject, items: 5, list: 'votes' })).toMatchObject({ status: 200, deletions: 1, items: 5 });
    expect(await decide({ ...reject, items: 4, ...event, list: 'questions' })).toMatchObject({ status: 200, items: 4 });
    expect(await decide({ decision: 'confirmed', items: 7 })).toMatchObject({ status: 200, deletions: 2, items: 7 });
    expect(await decide({ decision: 'confirmed', items: 1 })).toMatchObject({ status: 404 });
    const deleted = await stage.db.query('select list, count(*)::int as n from items where payload is null group by 1');
    expect(deleted.toSorted((a, b) => String(a['list']).localeCompare(String(b['list'])))).toEqual([
      { list: 'attendees', n: 6 },
      { list: 'sessions', n: 1 },
    ]);
  });

  it('is rejected if an operator keeps the items, and is held again only after the items were seen again', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', ...people(20));
    const scene = await stage.scene({ sync: 'deletions: { holdAbove: { share: 10%, items: 5 } }' });
    await scene.settle();
    for (const { id } of people(8)) await stage.remove('attendees', id as number);
    await confirmed(stage, scene);
    await decideHold(scene.ledger, (await openHolds(scene.ledger))[0]!.id, 'rejected');
    await polls(stage, scene, 2);
    expect([await deletedKeys(stage, 'attendees'), await openHolds(scene.ledger)]).toEqual([[], []]);
  });

  it('is held if many small deletions within an hour add up to a large one', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', ...people(40));
    const scene = await stage.scene({ sync: 'deletions: { holdAbove: { share: 10%, items: 5 } }' });
    await scene.settle();
    for (let id = 1; id <= 9; id += 1) {
      await stage.remove('attendees', id);
      await polls(stage, scene, 1);
    }
    expect(await deletedKeys(stage, 'attendees')).toHaveLength(5);
  });

  it('of a session does not delete the items of the session', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1, { anonymousResponses: false }), session(2));
    await stage.put('votes', vote(12, 7, 1), vote(12, 8, 1));
    const scene = await stage.scene();
    await scene.settle();
    await stage.remove('sessions', 1);
    await confirmed(stage, scene);
    await polls(stage, scene, 1);
    expect(story(scene, 'sessions', 1)).toEqual(['1 created', '2 deleted']);
    expect(archived(scene, 'votes').map(({ type }) => type)).toEqual(['votes.created', 'votes.created']);
  });

  it('of a pigeonhole is accepted only after the service has reported it three times in at least ten minutes', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', ...people(3));
    const scene = await stage.scene();
    await scene.settle();
    const gone = async (): Promise<unknown> =>
      (await stage.db.query('select count(*)::int as n from pigeonholes where gone_at is not null'))[0]!['n'];
    await stage.fault({ kind: 'error', code: 4504, pigeonhole });
    for (let time = 0; time < 4; time += 1) await polls(stage, scene, 1);
    expect(await gone()).toBe(0); // four times, but all at once
    await stage.db.query(`update streams set gone_since = gone_since - interval '11 minutes' where gone_count > 0`);
    await polls(stage, scene, 1);
    expect(await gone()).toBe(1);
    expect(story(scene, 'attendees', 1)).toEqual(['1 created']);
  });

  it('of the evidence hides an author, who is visible again when the same evidence returns', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1, { anonymousResponses: true }));
    await stage.put('attendees', attendee(5));
    await stage.put('qna-questions', qnaQuestion(11, { id: 5, anonymous: false }, 1));
    await stage.put('questions', question(11, 5, 1));
    const scene = await stage.scene();
    await scene.settle();
    const asked = (): unknown[] => archived(scene, 'questions', 11).map(({ data }) => data?.['attendeeId']);
    expect(asked().at(-1)).toBe(5);
    await stage.remove('qna-questions', 11);
    await stage.patch('questions', 11, { question: { content: 'Another text' } });
    await polls(stage, scene, 2);
    expect(asked().at(-1)).toBeUndefined(); // nothing says any more that its author wants to be known
    await stage.put('qna-questions', qnaQuestion(11, { id: 5, anonymous: false }, 1));
    await polls(stage, scene, 2);
    expect(asked().at(-1)).toBe(5);
  });

  it('of the evidence does not show an author who asked anonymously', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1, { anonymousResponses: false }));
    await stage.put('attendees', attendee(5));
    await stage.put('qna-questions', qnaQuestion(11, { id: 5, anonymous: true }, 1));
    await stage.put('questions', question(11, 5, 1));
    const scene = await stage.scene();
    await scene.settle();
    await stage.remove('qna-questions', 11);
    await stage.patch('questions', 11, { question: { content: 'Another text' } });
    await confirmed(stage, scene);
    await polls(stage, scene, 1);
    expect(await deletedKeys(stage, 'qna-questions')).toEqual(['11']);
    const asked = archived(scene, 'questions', 11);
    expect(asked.length).toBeGreaterThan(1);
    for (const { data } of asked) expect(data).not.toHaveProperty('attendeeId');
  });

  it('of a pigeonhole is reverted for all of its streams by the first answer', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1));
    await stage.put('attendees', ...people(3));
    const scene = await stage.scene();
    await scene.settle();
    await refuseUntilGone(stage, scene);
    const gone = async (): Promise<unknown> => {
      const [row] = await stage.db.query(
        `select (select count(*)::int from pigeonholes where gone_at is not null) as pigeonholes,
           (select count(*)::int from streams where wanted and gone_at is not null) as streams`,
      );
      return row;
    };
    expect(await gone()).toMatchObject({ pigeonholes: 1 });
    await stage.control('DELETE', 'faults');
    await stage.put('attendees', attendee(4));
    await stage.db.query(`update streams set due_at = now() where list = 'sessions'`);
    await scene.settle();
    expect(await gone()).toEqual({ pigeonholes: 0, streams: 0 });
    expect(story(scene, 'attendees', 4)).toEqual(['1 created']);
  });

  it('of a pigeonhole is also reverted by an answer about a list that was not read meanwhile', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', ...people(3));
    const scene = await stage.scene();
    await scene.settle();
    await stage.fault({ kind: 'error', code: 4504, pigeonhole });
    for (let time = 0; time < 3; time += 1) {
      await stage.db.query(`update streams set due_at = now() where list = 'attendees'`);
      await scene.settle();
      await stage.db.query(`update streams set gone_since = gone_since - interval '11 minutes' where gone_count > 0`);
    }
    const gone = async (): Promise<unknown> =>
      await stage.db.query(
        `select p.gone_at is not null as pigeonhole, s.gone_at is not null as list from pigeonholes p
           join streams s on s.pigeonhole_number = p.pigeonhole_number where s.list = 'attendees'`,
      );
    expect(await gone()).toEqual([{ pigeonhole: true, list: true }]);
    await stage.control('DELETE', 'faults');
    await stage.put('attendees', attendee(4));
    await stage.db.query(`update streams set due_at = now() where list = 'sessions'`);
    await scene.settle();
    expect(await gone()).toEqual([{ pigeonhole: false, list: false }]);
    expect(story(scene, 'attendees', 4)).toEqual(['1 created']);
  });

  it('of a pigeonhole is reverted within minutes while the service shows the pigeonhole', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1));
    await stage.put('attendees', ...people(3));
    const scene = await stage.scene();
    await scene.settle();
    await refuseUntilGone(stage, scene);
    await stage.control('DELETE', 'faults');
    await stage.put('attendees', attendee(4));
    await scene.settle();
    expect(story(scene, 'attendees', 4)).toEqual([]); // the last failure was a moment ago
    await stage.db.query(`update streams set due_at = due_at - interval '11 minutes' where gone_at is not null`);
    await scene.settle();
    expect(story(scene, 'attendees', 4)).toEqual(['1 created']);
    expect(await stage.db.query('select 1 from pigeonholes where gone_at is not null')).toEqual([]);
  });

  it('of a pigeonhole is not accepted while another of its lists is answered', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', ...people(3));
    const scene = await stage.scene();
    await scene.settle();
    await stage.fault({ kind: 'error', code: 4504, path: '/attendees' });
    for (let time = 0; time < 5; time += 1) {
      await stage.db.query(`update streams set due_at = now() where list = 'attendees'`);
      await scene.settle();
      await stage.db.query(`update streams set gone_since = gone_since - interval '11 minutes' where gone_count > 0`);
      expect(await stage.db.query('select 1 from pigeonholes where gone_at is not null')).toEqual([]);
    }
    // It fails like any other list, so that an operator sees it.
    const [list] = await stage.db.query(`select gone_at, failures, failure from streams where list = 'attendees'`);
    expect(list).toEqual({ gone_at: null, failures: 5, failure: expect.stringContaining('4504') });
  });

  it('of a session is reverted when it returns, and its lists are read immediately', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1), session(2));
    const scene = await stage.scene();
    await scene.settle();
    await stage.remove('sessions', 1);
    await confirmed(stage, scene);
    await stage.db.query(`update streams set due_at = now() + interval '1 day' where session_id = 1`);
    await stage.put('sessions', session(1));
    await stage.put('votes', vote(12, 7, 1));
    await stage.db.query(`update streams set due_at = now() where list = 'sessions'`);
    await scene.settle();
    expect(archived(scene, 'votes')).toHaveLength(1);
  });

  it('is confirmed, but keeps items that changed after they went missing', async () => {
    const stage = await stages.open(kind);
    const sessions = [1, 2].map((id) => session(id, { type: 'poll_word_cloud', anonymousResponses: false }));
    const word = (id: number, sessionId: number) => ({
      attendeeId: 5,
      createdAt: '2026-11-21T08:00:00.000Z',
      session: { id: sessionId, name: `Session ${sessionId}`, type: 'poll_word_cloud' },
      answer: { id, content: 'word', status: 'approved' },
    });
    await stage.put('sessions', ...sessions);
    await stage.put('answers', ...Array.from({ length: 12 }, (_, index) => word(index + 1, 1)), word(20, 2));
    const scene = await stage.scene({ sync: 'deletions: { holdAbove: { share: 10%, items: 5 } }' });
    await scene.settle();
    for (let id = 1; id <= 8; id += 1) await stage.remove('answers', id);
    await confirmed(stage, scene);
    await polls(stage, scene, 2);
    const [hold] = await openHolds(scene.ledger);
    expect(hold).toMatchObject({ items: 8 });
    await stage.put('answers', word(1, 2)); // it moved, and the other session is read first
    await stage.db.query(`update streams set due_at = now() where list = 'answers' and session_id = 2`);
    await scene.settle();
    await decideHold(scene.ledger, hold!.id, 'confirmed');
    await scene.settle();
    expect(story(scene, 'answers', 1)).toEqual(['1 created', '2 updated']);
    expect(story(scene, 'answers', 2)).toEqual(['1 created', '2 deleted']);
  });

  it('is proved for a question whose status changed before it was removed from a list of many pages', async () => {
    const stage = await stages.open(kind);
    await stage.control('PATCH', 'knobs', { maxPerPage: 10 });
    await stage.put('sessions', session(1, { anonymousResponses: false }));
    const ids = Array.from({ length: 30 }, (_, index) => index + 1);
    await stage.put('qna-questions', ...ids.map((id) => qnaQuestion(id, { id: 1, anonymous: false }, 1)));
    await stage.put('questions', ...ids.map((id) => question(id, 1, 1)));
    const scene = await stage.scene();
    await scene.settle();
    await stage.patch('qna-questions', 4, { status: 'archived' });
    await polls(stage, scene, 2);
    expect(story(scene, 'qna-questions', 4)).toEqual(['1 created', '2 updated']);
    await stage.remove('qna-questions', 4);
    await polls(stage, scene, 4);
    expect(story(scene, 'qna-questions', 4)).toEqual(['1 created', '2 updated', '3 deleted']);
  });
});

/** Votes show no id, so theirs is named here. */
async function insertVote(stage: Stage, id: number, item: object): Promise<void> {
  await stage.control('POST', 'mutations', { op: 'insert', list: 'votes', pigeonhole, id, item, exact: true });
}
