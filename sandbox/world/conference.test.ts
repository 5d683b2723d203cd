import { closeSandboxes, NOW_MS, startTestSandbox, textOf } from '../sandbox-client.test-kit.js';
import type { JsonObject } from '../json.js';
import { isSpaceListName, LIST_NAMES } from '../list-name.js';
import { SESSION_TYPES } from './conference-plan.js';

afterEach(closeSandboxes);

async function everything(seed: number): Promise<string> {
  const sandbox = await startTestSandbox({ seed });
  await sandbox.control('POST', 'events', { count: 1, kind: 'editProfile' });
  const lists = [];
  for (const list of LIST_NAMES) {
    lists.push(await sandbox.truth(isSpaceListName(list) ? `${list}?pigeonhole=101` : list));
  }
  return JSON.stringify(lists);
}

const field = (item: JsonObject, holder: string): JsonObject => item[holder] as JsonObject;

describe('a conference', () => {
  it('is identical to the byte for the same seed, and different for another seed', async () => {
    const first = await everything(5);
    expect(first.length).toBeGreaterThan(50_000);
    expect(await everything(5)).toBe(first);
    expect(await everything(6)).not.toBe(first);
  });

  it('has pigeonholes of different status and time zone, and sessions of every known type', async () => {
    const sandbox = await startTestSandbox({ pigeonholes: 7 });
    const pigeonholes = await sandbox.walk('/v2/pigeonholes');
    expect(pigeonholes.map((item) => item['status'])).toEqual([
      'live',
      'ended',
      'upcoming',
      'new',
      'live',
      'ended',
      'postponed',
    ]);
    expect(new Set(pigeonholes.map((item) => item['timezone'])).size).toBe(5);
    const sessions = await sandbox.walk('/v2/pigeonholes/101/sessions');
    expect(new Set(sessions.map((item) => item['type']))).toEqual(new Set(SESSION_TYPES));
    expect(sessions.some((item) => sessions.some((parent) => parent['id'] === item['parentSessionId']))).toBe(true);
    for (const type of ['qna', 'poll_multiple_choice']) {
      const flags = sessions.filter((item) => item['type'] === type).map((item) => item['anonymousResponses']);
      expect(new Set(flags)).toEqual(new Set([true, false]));
    }
  });

  it('has live sessions that run now and do not end soon', async () => {
    const sandbox = await startTestSandbox();
    const running = (await sandbox.walk('/v2/pigeonholes/101/sessions')).filter(
      (item) =>
        Date.parse(textOf(item['startDate'])) <= NOW_MS && Date.parse(textOf(item['endDate'])) > NOW_MS + 3_600_000,
    );
    expect(new Set(running.map((item) => item['type']))).toEqual(
      new Set(['qna', 'poll_quiz', 'poll_word_cloud', 'poll_multiple_choice', 'poll_open_ended', 'break', 'regular']),
    );
  });

  it('has people in all four states of consent, walk-ins, codes with leading zeros and about 450 bytes each', async () => {
    const sandbox = await startTestSandbox({ attendees: 300 });
    const people = await sandbox.walk('/v2/pigeonholes/101/attendees');
    const states = people.map(({ consent }) =>
      consent === undefined ? 'absent' : consent === null ? 'null' : `${(consent as JsonObject)['obtained'] === true}`,
    );
    expect(new Set(states)).toEqual(new Set(['true', 'false', 'null', 'absent']));
    expect(people.some((person) => person['registrantId'] === null)).toBe(true);
    expect(people.some((person) => textOf(person['attendeeCode']).startsWith('00'))).toBe(true);
    expect(new Set(people.map((person) => person['attendeeCode'])).size).toBe(300);
    const bytes = Buffer.byteLength(JSON.stringify(people)) / people.length;
    expect(bytes).toBeGreaterThan(400);
    expect(bytes).toBeLessThan(500);
    const registrants = await sandbox.truth('registrants?pigeonhole=101');
    for (const person of people) {
      const registrant = registrants.find((item) => item['id'] === person['registrantId']);
      expect(registrant?.['attendeeCode'] ?? null).toBe(
        person['registrantId'] === null ? null : person['attendeeCode'],
      );
    }
  });

  it('shows the same questions in both lists, with the two names of a status', async () => {
    const sandbox = await startTestSandbox({ questions: 100 });
    const questions = await sandbox.walk('/v2/pigeonholes/101/questions');
    const qna = await sandbox.walk('/v2/pigeonholes/101/qna-questions');
    expect(questions).toHaveLength(200);
    const names: Record<string, string> = {
      approved: 'allowed',
      pending: 'pending',
      rejected: 'dismissed',
      archived: 'archived',
    };
    expect(
      qna.map((item) => [
        item['id'],
        item['content'],
        item['status'],
        field(item, 'attendee')['id'],
        field(item, 'session')['id'],
        item['createdAt'],
      ]),
    ).toEqual(
      questions.map((item) => {
        const { id, content, status } = field(item, 'question');
        return [
          id,
          content,
          names[textOf(status)],
          item['attendeeId'],
          field(item, 'session')['id'],
          item['createdAt'],
        ];
      }),
    );
    expect(new Set(qna.map((item) => item['status']))).toEqual(new Set(Object.values(names)));
  });

  it('keeps id and code of anonymous people, and has them only in sessions that allow it', async () => {
    const sandbox = await startTestSandbox({ questions: 60 });
    const sessions = await sandbox.walk('/v2/pigeonholes/101/sessions');
    for (const list of ['qna-questions', 'poll-mcq-votes', 'poll-quiz-votes']) {
      const items = await sandbox.walk(`/v2/pigeonholes/101/${list}`);
      const anonymous = items.filter((item) => field(item, 'attendee')['anonymous'] === true);
      expect(anonymous.length).toBeGreaterThan(0);
      expect(anonymous.length).toBeLessThan(items.length);
      for (const item of anonymous) {
        expect(field(item, 'attendee')['id']).toEqual(expect.any(Number));
        if (list !== 'poll-mcq-votes') expect(field(item, 'attendee')['attendeeCode']).toMatch(/^\d{8}$/);
        const session = sessions.find(({ id }) => id === field(item, 'session')['id']);
        expect(session?.['anonymousResponses']).toBe(true);
      }
    }
  });

  it.each([
    ['votes', 'filter[sessionId]=5001'],
    ['answer_ratings', 'filter[sessionId]=5001'],
    ['answers', 'filter[sessionId]=5041'],
    ['poll-mcq-votes', ''],
    ['poll-quiz-votes', ''],
    ['questions', ''],
  ])('has %s by its attendees on its questions, at most one per attendee and question', async (list, filter) => {
    const sandbox = await startTestSandbox({ attendees: 90 });
    const people = new Set((await sandbox.walk('/v2/pigeonholes/101/attendees')).map((item) => item['id']));
    const questions = await sandbox.walk('/v2/pigeonholes/101/questions');
    const known = new Map(questions.map((item) => [field(item, 'question')['id'], field(item, 'question')['content']]));
    const items = await sandbox.walk(`/v2/pigeonholes/101/${list}?${filter}`);
    const pairs = items.map((item) => {
      const who = item['attendeeId'] ?? field(item, 'attendee')['id'];
      expect(people.has(who ?? null)).toBe(true);
      if (list === 'votes') expect(known.get(field(item, 'question')['id'])).toBe(field(item, 'question')['content']);
      return `${textOf(who)} ${textOf(item['question'] === undefined ? '' : field(item, 'question')['id'])}`;
    });
    expect(pairs.length).toBeGreaterThan(10);
    expect(new Set(pairs).size).toBe(pairs.length);
  });

  it('contains only items from the past', async () => {
    const sandbox = await startTestSandbox();
    for (const list of ['attendees', 'questions', 'poll-mcq-votes', 'poll-quiz-votes']) {
      for (const item of await sandbox.walk(`/v2/pigeonholes/101/${list}`)) {
        expect(Date.parse(textOf(item['createdAt'] ?? item['signInTime']))).toBeLessThanOrEqual(NOW_MS);
      }
    }
  });

  it('has no interactions without attendees', async () => {
    const sandbox = await startTestSandbox({ attendees: 0 });
    for (const list of ['attendees', 'questions', 'poll-mcq-votes', 'poll-quiz-votes', 'qna-questions']) {
      expect(await sandbox.walk(`/v2/pigeonholes/101/${list}`)).toEqual([]);
    }
    await sandbox.control('POST', 'events', { count: 200 });
    expect((await sandbox.walk('/v2/pigeonholes/101/attendees')).length).toBeGreaterThan(0);
  });
});
