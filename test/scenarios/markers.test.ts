import { kinds } from '../../ledger/drivers/both-databases.test-kit.js';
import { startHubSpotDouble } from '../doubles/hubspot/start-hubspot-double.js';
import { startLrsDouble } from '../doubles/lrs/start-lrs-double.js';
import { startSlackDouble } from '../doubles/slack/start-slack-double.js';
import { answer, attendee, pollVote, qnaQuestion, question, rating, session, vote } from '../kit/items.js';
import type { Scene } from '../kit/scene.js';
import { type Item, type Stage, useStages } from '../kit/stage.js';

/**
 * The promise "nothing leaks", at sinks that hold records: every field of certain people carries a marker, on all nine
 * lists, under mappings that send whatever they can get. Some are not to be shown from the beginning, some consent and
 * stand by their name at first. Looked through: every request that any sink makes from then on, the log, and all that
 * the store keeps beside items and changes.
 */
const stages = useStages();

/** Numbers that stand nowhere by chance: the ids that name a person as well as a code does. */
const people = {
  /** Has refused from the beginning. */
  refused: 880_001_001,
  /** Was never asked. */
  notAsked: 880_002_002,
  /** Agrees at first, and refuses later. */
  withdrawing: 880_003_003,
  /** Agrees, but not to be named in what they do. */
  anonymous: 880_004_004,
  /** Acts by name at first; the session turns anonymous later. */
  turning: 880_005_005,
} as const;
type Person = keyof typeof people;

const markerOf = (who: Person): string => `MARK-${people[who]}`;
const consents: Readonly<Record<Person, unknown>> = {
  refused: { obtained: false },
  notAsked: null,
  withdrawing: { obtained: true, obtainedAt: '2026-11-21T08:00:00Z' },
  anonymous: { obtained: true, obtainedAt: '2026-11-21T08:00:00Z' },
  turning: { obtained: true, obtainedAt: '2026-11-21T08:00:00Z' },
};

/** Every field is a marker. The record of who agrees may be sent, so only its id and code are known to interactions. */
function record(who: Person): Item {
  const mark = markerOf(who);
  return attendee(people[who], {
    registrantId: people[who] + 5,
    attendeeCode: `${mark}-code`,
    Name: `${mark}-name`,
    Email: `${mark.toLowerCase()}@example.com`,
    'Job title': `${mark}-title`,
    consent: consents[who],
  });
}

/** What one person does on the seven lists of interactions; sessions 1 to 3 are open, 4 is anonymous. */
function deeds(who: Person, number: number, hasTurned = false): [list: string, item: Item][] {
  const id = people[who];
  const isAnonymous = who === 'anonymous' || (who === 'turning' && hasTurned);
  const person = { id, anonymous: isAnonymous, attendeeCode: `${markerOf(who)}-code`, Name: `${markerOf(who)}-name` };
  const [qna, cloud] = who === 'anonymous' ? [4, 4] : who === 'turning' ? [3, 3] : [1, 2];
  return [
    ['qna-questions', qnaQuestion(100 + number, person, qna)],
    ['questions', question(100 + number, id, qna)],
    ['votes', vote(900, id, qna)],
    ['answer_ratings', rating(200 + number, 900, id, qna)],
    ['answers', answer(300 + number, id, cloud)],
    ['poll-mcq-votes', pollVote(400 + number, person, qna)],
    ['poll-quiz-votes', pollVote(500 + number, person, qna)],
  ];
}

const everything = '$string(item) & $string(attendee) & $string(previous)';

describe.each(kinds)('people who are not to be shown, on %s', (kind) => {
  it('stand in no request of any sink, no line of the log and no row beside their own', async () => {
    const stage = await stages.open(kind);
    const hubspot = await startHubSpotDouble();
    const slack = await startSlackDouble({ limits: { postPerChannel: { count: 10_000, windowMs: 1000 } } as never });
    const lrs = await startLrsDouble();
    try {
      const names = Object.keys(people) as Person[];
      for (const id of [1, 2, 3]) await stage.put('sessions', session(id, { anonymousResponses: false }));
      await stage.put('sessions', session(4));
      await stage.put('attendees', ...names.map(record));
      for (const [index, who] of names.entries()) {
        for (const [list, item] of deeds(who, index)) await stage.put(list, item);
      }
      const lists = [
        'questions',
        'votes',
        'answer_ratings',
        'answers',
        'poll-mcq-votes',
        'poll-quiz-votes',
        'qna-questions',
      ];
      const notes = ['sessions', ...lists].map(
        (from) =>
          `{ from: ${from}, object: notes, email: attendee.Email, properties: { hs_note_body: '${everything}' } }`,
      );
      const messages = ['sessions', ...lists].map((from) => `{ from: ${from}, text: '${everything}' }`);
      const scene = await stage.webhookScene('consent: { accept: [obtained] }, onConsentWithdrawn: forget', {
        sinks: {
          crm: `{ type: hubspot, token: "\${HUBSPOT_TOKEN}", baseUrl: "${hubspot.url}", onConsentWithdrawn: forget, records: [
            { from: attendees, object: contacts, match: [email], properties: { email: 'item.Email', firstname: 'item.Name' } },
            ${notes.join(', ')} ] }`,
          talk: `{ type: slack, token: "\${SLACK_TOKEN}", channel: C0123456789, baseUrl: "${slack.url}", limits: { per10s: 10000 }, messages: [ ${messages.join(', ')} ] }`,
          lms: `{ type: xapi, endpoint: "${lrs.endpoint}", username: lrs-key, password: "\${LRS_SECRET}", actor: { homePage: "https://example.com", name: attendee.attendeeCode } }`,
        },
        environment: {
          HUBSPOT_TOKEN: 'hubspot-token',
          SLACK_TOKEN: 'xoxb-double',
          LRS_SECRET: 'lrs-secret',
        },
      });
      /** All that left since, as one text. */
      const since = { hubspot: 0, slack: 0, lrs: 0, hooks: 0 };
      const left = (): string => {
        const doubles = { hubspot, slack, lrs };
        const asked = (['hubspot', 'slack', 'lrs'] as const).flatMap((name) => {
          const requests = doubles[name].requests.slice(since[name]);
          since[name] = doubles[name].requests.length;
          return requests.flatMap(({ path, query, body }) =>
            parts(body).map((part) => `${name} ${path} ${query.toString()} ${part}`),
          );
        });
        const hooks = stage
          .received()
          .slice(since.hooks)
          .map((receipt) => JSON.stringify(receipt));
        since.hooks += hooks.length;
        return [...asked, ...hooks].join('\n');
      };
      const shown = (text: string, who: Person): boolean =>
        text.toLowerCase().includes(markerOf(who).toLowerCase()) || text.includes(String(people[who]));

      await settle(stage, scene);
      const first = left();
      expect(first.length).toBeGreaterThan(5000);
      expect(names.filter((who) => shown(first, who))).toEqual(['withdrawing', 'anonymous', 'turning']);
      const deedsOf = (text: string, who: Person): string[] =>
        text.split('\n').filter((line) => shown(line, who) && !isOwnRecord(line));
      expect(deedsOf(first, 'withdrawing').length).toBeGreaterThan(10); // or the rest would prove nothing
      expect(deedsOf(first, 'anonymous')).toEqual([]);
      expect(slack.requests.length).toBeGreaterThan(10);
      expect(lrs.requests.length).toBeGreaterThan(0);

      await stage.patch('attendees', people.withdrawing, { consent: { obtained: false } });
      await stage.patch('sessions', 3, { anonymousResponses: true });
      for (const list of ['qna-questions', 'poll-mcq-votes', 'poll-quiz-votes']) {
        const [, item] = deeds('turning', names.indexOf('turning')).find(([name]) => name === list)!;
        await stage.patch(list, Number(item['id']), { attendee: { ...(item['attendee'] as Item), anonymous: true } });
      }
      await stage.pollsAreDue();
      await scene.settle();
      const moved = left();
      expect(moved.length).toBeGreaterThan(1000); // unlinked, taken back, edited
      expect(moved.split('\n').filter((line) => shown(line, 'withdrawing') && !isRemoval(line))).toEqual([]);
      expect(deedsOf(moved, 'turning')).toEqual([]);
      for (const [index, who] of names.entries()) {
        for (const [list, item] of deeds(who, 10 + index, true)) {
          if (list !== 'votes') await stage.put(list, item);
        }
        await stage.patch('attendees', people[who], { 'Job title': `${markerOf(who)}-changed` });
      }
      await settle(stage, scene);
      const later = left();
      expect(later.length).toBeGreaterThan(2000);
      expect(['refused', 'notAsked', 'withdrawing'].filter((who) => shown(later, who as Person))).toEqual([]);
      expect([...deedsOf(later, 'anonymous'), ...deedsOf(later, 'turning')]).toEqual([]);

      const kept = await stage.db.query<Record<string, unknown>>(
        `select (select string_agg(coalesce(reason, '') || coalesce(detail, ''), ' ') from deliveries) as deliveries,
           (select string_agg(object::text, ' ') from sink_objects) as objects,
           (select string_agg(memory::text || coalesce(failure, ''), ' ') from lanes) as lanes`,
      );
      const rest = scene.logText() + JSON.stringify(kept);
      expect(names.filter((who) => rest.toLowerCase().includes(markerOf(who).toLowerCase()))).toEqual([]);
      expect(await stage.db.query(`select reason, detail from deliveries where state = 'dead'`)).toEqual([]);
    } finally {
      await Promise.all([hubspot.close(), slack.close(), lrs.close()]);
    }
  });
});

/** Of someone who agrees, it may be sent: a contact, an attendance. */
function isOwnRecord(line: string): boolean {
  return line.includes('/contacts/') || line.includes('"list":"attendees"') || line.includes('verbs/attended');
}

/** Names the key of what is to be forgotten, and nothing else. */
function isRemoval(line: string): boolean {
  return line.includes('"type":"attendees.deleted"') && line.includes('"data":null') && !/mark-/i.test(line);
}

/** A batch, one by one: a part must not be taken for what stands beside it. */
function parts(body: string): string[] {
  const whole: unknown = body.startsWith('[') ? JSON.parse(body) : body;
  return Array.isArray(whole) ? whole.map((part) => JSON.stringify(part)) : [body];
}

async function settle(stage: Stage, scene: Scene): Promise<void> {
  for (let round = 0; round < 3; round += 1) {
    await stage.pollsAreDue();
    await stage.retriesAreDue();
    await scene.settle();
  }
}
