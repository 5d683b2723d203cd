import type { Config } from '../config/config.js';
import { Secret } from '../config/secret.js';
import { curableReasons, mappingReasons } from '../sinks/all-reasons.js';
import { allSinks } from '../sinks/all-sinks.js';
import { addDecisions } from '../delivering/recent-decisions.js';
import { withHiddenReason } from '../delivering/plan-changes.js';
import { ownKeyPair } from '../sandbox/salesforce/salesforce-org.js';
import { subjectOf } from '../sinks/plan-of.test-kit.js';
import { whileIdentityHidden } from '../sinks/reasons.js';
import { sampleChange } from '../sinks/sample-change.test-kit.js';
import { environmentOf } from '../sinks/sink-environment.test-kit.js';
import type { Fields, Operation, Planned, SinkEnvironment, Subject } from '../sinks/sink.js';
import { judgeList, withholdingSentence } from './withholding.js';

/* Tries each reason that a sink declares: with a person whose identity is visible, and with one whose is hidden. */

const token = new Secret('token');
const person = { id: 7, attendeeCode: 'A-7', Email: 'ada@example.org', Name: 'Ada' };
const session = { id: 5001, name: 'Opening', anonymousResponses: false };
const pigeonhole = { id: 101, name: 'Meeting', startDate: '2026-11-21', timezone: 'UTC' };

/** An interaction of a list, with its person, unless the sample says otherwise. */
function interaction(list: string, data: Fields | null, around: Partial<Subject> = {}): Subject {
  return subjectOf(sampleChange({ list, key: '1', data }), { attendee: person, session, pigeonhole, ...around });
}

const votes = { attendeeId: 7, session, question: { id: 9001, content: 'Lunch?' } };
const vote = (around: Partial<Subject> = {}): Subject => interaction('votes', votes, around);
const removed = (removal: Subject['removal'], object: Fields | null = null, list = 'votes'): Subject =>
  interaction(list, null, { removal, object, attendee: null });

/** A plan of a sink that sends nothing. */
interface Sample {
  readonly reason: string;
  readonly keys: object;
  readonly subject: Subject;
  /** `missing-value`: whether the expression without a value reads the person, or only the item. */
  readonly lacks?: 'person' | 'item';
  readonly more?: Partial<SinkEnvironment>;
  /** Returns the object of the item from its first operation. The plan with this object is then the sample. */
  readonly objectAfter?: (operation: Operation) => Fields;
}

const grades = (more: object = {}) => ({
  baseUrl: 'https://canvas.example.com',
  token,
  records: [
    { from: 'votes', course: '"12"', assignment: '"34"', user: 'attendee.Email', grade: 'item.question.id', ...more },
  ],
});
const madeGrade = { grades: [{ course: '12', assignment: '34', sent: 'x', left: { userId: 5, state: 's' } }] };

const requests = (record: object, more: object = {}) => ({
  baseUrl: 'https://people.example.com',
  records: [{ from: 'votes', name: 'votes', create: { url: '"/votes"', body: 'item' }, ...record }],
  ...more,
});

const contacts = (more: object = {}) => ({
  token,
  records: [{ from: 'votes', object: 'contacts', match: ['email'], properties: { email: 'attendee.Email' }, ...more }],
});
const rows = (more: object = {}) => ({
  baseUrl: 'https://acme.crm.dynamics.com/api/data/v9.2',
  tokenUrl: 'https://login.example.com/token',
  clientId: 'app',
  clientSecret: token,
  records: [{ from: 'votes', object: 'contacts', match: ['email'], properties: { email: 'attendee.Email' }, ...more }],
});
const notes = (more: object = {}) => ({
  token,
  records: [
    {
      from: 'votes',
      object: 'notes',
      email: 'attendee.Email',
      properties: { hs_note_body: 'item.question.content' },
      ...more,
    },
  ],
});
const registrations = (more: object = {}) => ({
  token,
  records: [
    {
      from: 'votes',
      object: 'marketing-event',
      email: 'attendee.Email',
      attendance: '"attend"',
      event: { name: '"Meeting"', organizer: '"Acme"' },
      ...more,
    },
  ],
});

const privateKey = new Secret(ownKeyPair().privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
const leads = (more: object = {}) => ({
  clientId: 'app',
  username: 'integration@example.com',
  privateKey,
  records: [
    {
      from: 'votes',
      object: 'Lead',
      create: false,
      match: ['leadEmail'],
      email: 'attendee.Email',
      properties: {},
      ...more,
    },
  ],
});

const messages = (more: object = {}, keys: object = {}) => ({
  token,
  channel: 'C0123456789',
  messages: [{ from: 'votes', text: 'item.question.content', ...more }],
  ...keys,
});
const message = {
  state: 'shown',
  channel: 'C0123456789',
  ts: '1.2',
  threadTs: null,
  threadKey: null,
  hash: 'earlier',
  votes: null,
  broadcast: false,
  named: false,
  entry: 0,
};

const statements = (more: object = {}) => ({
  endpoint: 'https://lrs.example.com/xapi',
  username: 'key',
  password: new Secret('password'),
  actor: { homePage: 'https://example.com', name: 'attendee.attendeeCode' },
  ...more,
});
const credit = { version: 1, when: 'item.scope = "session"', activity: 'session.id' };
const counted = { scope: 'session', interactions: 3, evidence: [] };
const anonymousQuestion = interaction(
  'qna-questions',
  { id: 1, content: 'Lunch?', attendee: { anonymous: true }, session },
  { attendee: null },
);

const samples: Readonly<Record<string, readonly Sample[]>> = {
  canvas: [
    { reason: 'condition', keys: grades({ when: 'false' }), subject: vote() },
    { reason: 'no-record', keys: grades(), subject: interaction('answers', {}) },
    { reason: 'no-user', lacks: 'person', keys: grades({ user: 'attendee.Mail' }), subject: vote() },
    { reason: 'no-assignment', lacks: 'item', keys: grades({ course: 'item.course' }), subject: vote() },
    { reason: 'no-assignment', lacks: 'person', keys: grades({ assignment: 'attendee.task' }), subject: vote() },
    { reason: 'no-grade', lacks: 'item', keys: grades({ grade: 'item.score' }), subject: vote() },
    { reason: 'no-grade', lacks: 'person', keys: grades({ grade: 'attendee.score' }), subject: vote() },
    {
      reason: 'same-grade',
      keys: grades(),
      subject: vote(),
      objectAfter: (operation) => {
        const [{ course, assignment, sent }] = (operation as unknown as { steps: [Fields] }).steps;
        return { grades: [{ course, assignment, sent, left: { userId: 5, state: 's' } }] };
      },
    },
    { reason: 'nothing-made', keys: grades(), subject: removed('deleted') },
    { reason: 'grade-stays', keys: grades(), subject: removed('deleted', madeGrade) },
    { reason: 'forget-by-hand', keys: grades(), subject: removed('erased', madeGrade), more: { onForget: 'manual' } },
  ],
  dynamics: [
    { reason: 'condition', keys: rows({ when: 'false' }), subject: vote() },
    { reason: 'no-record', keys: rows(), subject: interaction('answers', {}) },
    { reason: 'no-match', lacks: 'person', keys: rows({ properties: { email: 'attendee.Mail' } }), subject: vote() },
    { reason: 'no-person', keys: rows({ from: 'qna-questions' }), subject: anonymousQuestion },
    { reason: 'never-sent', keys: rows(), subject: removed('erased') },
    {
      reason: 'kept',
      keys: rows(),
      subject: removed('deleted', { contacts: { id: '5', written: ['email'], writtenAtMs: 1 } }),
    },
  ],
  file: [],
  http: [
    { reason: 'condition', keys: requests({ when: 'false' }), subject: vote() },
    { reason: 'no-record', keys: requests({}), subject: interaction('answers', {}) },
    {
      reason: 'no-value',
      lacks: 'person',
      keys: requests({ requires: ['mail'], properties: { mail: 'attendee.Mail', text: 'item.question.content' } }),
      subject: vote(),
    },
    {
      reason: 'no-value',
      lacks: 'item',
      keys: requests({ requires: ['text'], properties: { mail: 'attendee.Email', text: 'item.text' } }),
      subject: vote(),
    },
    { reason: 'not-created', keys: requests({ update: { url: '"/x"' }, on: ['update'] }), subject: vote() },
    {
      reason: 'not-updated',
      keys: requests({ on: ['create'] }),
      subject: vote({ object: { votes: { id: 1, sent: 'x' } } }),
    },
    {
      reason: 'unchanged',
      keys: requests({ update: { method: 'POST', url: '"/votes"', body: 'item' } }),
      subject: vote(),
      objectAfter: (operation) => {
        const [{ sent }] = (operation as unknown as { steps: [Fields] }).steps;
        return { votes: { id: 1, sent } };
      },
    },
    {
      reason: 'never-sent',
      keys: requests({ delete: { url: '"/gone"' } }, { revisions: 'every' }),
      subject: { ...removed('deleted'), neverSent: true },
    },
    { reason: 'no-delete-request', keys: requests({}), subject: removed('deleted', { votes: { id: 1, sent: 'x' } }) },
    {
      reason: 'not-ours',
      keys: requests({ find: { url: '"/f"', idFrom: 'body.id' }, delete: { url: '"/votes/" & record.id' } }),
      subject: removed('deleted', { votes: { id: 1, sent: 'x', found: true } }),
    },
    {
      reason: 'nothing-made',
      keys: requests({ delete: { url: '"/votes/" & record.id' } }),
      subject: removed('deleted'),
    },
    {
      reason: 'id-not-read',
      keys: requests({ delete: { url: '"/votes/" & record.id' } }),
      subject: removed('deleted', { votes: { sent: 'x' } }),
    },
    {
      reason: 'forget-by-hand',
      keys: requests({ delete: { url: '"/votes/" & record.id' } }),
      subject: removed('erased', { votes: { id: 1, sent: 'x' } }),
      more: { onForget: 'manual' },
    },
  ],
  hubspot: [
    { reason: 'condition', keys: contacts({ when: 'false' }), subject: vote() },
    { reason: 'no-record', keys: contacts(), subject: interaction('answers', {}) },
    {
      reason: 'no-match',
      lacks: 'person',
      keys: contacts({ properties: { email: 'attendee.Mail' } }),
      subject: vote(),
    },
    { reason: 'no-match', lacks: 'person', keys: notes({ email: 'attendee.Mail' }), subject: vote() },
    { reason: 'no-email', lacks: 'person', keys: registrations({ email: 'attendee.Mail' }), subject: vote() },
    { reason: 'no-attendance', lacks: 'item', keys: registrations({ attendance: 'item.came' }), subject: vote() },
    { reason: 'no-attendance', lacks: 'person', keys: registrations({ attendance: 'attendee.came' }), subject: vote() },
    { reason: 'no-text', lacks: 'item', keys: notes({ properties: { hs_note_body: 'item.text' } }), subject: vote() },
    {
      reason: 'no-text',
      lacks: 'person',
      keys: notes({ properties: { hs_note_body: 'attendee.text' } }),
      subject: vote(),
    },
    { reason: 'no-person', keys: notes({ from: 'qna-questions' }), subject: anonymousQuestion },
    {
      reason: 'unchanged',
      keys: registrations(),
      subject: vote({ object: { 'marketing-event': { attendance: 'attend', contactId: '5', eventId: '6' } } }),
    },
    { reason: 'not-registered', keys: registrations({ attendance: '"cancel"' }), subject: vote() },
    { reason: 'never-sent', keys: contacts(), subject: removed('deleted') },
    { reason: 'kept', keys: contacts(), subject: removed('deleted', { contacts: { id: '5' } }) },
    { reason: 'done-before', keys: contacts(), subject: vote({ object: { contacts: { heldAt: vote().change.id } } }) },
  ],
  postgres: [
    {
      reason: 'no-table',
      keys: { url: new Secret('postgres://app@db/warehouse'), schema: 'engagement' },
      subject: interaction('badges', {}),
    },
    {
      reason: 'forget-by-hand',
      keys: { url: new Secret('postgres://app@db/warehouse'), schema: 'engagement' },
      subject: removed('erased'),
      more: { onForget: 'manual' },
    },
  ],
  s3: [],
  salesforce: [
    { reason: 'condition', keys: leads({ when: 'false' }), subject: vote() },
    { reason: 'no-record', keys: leads(), subject: interaction('answers', {}) },
    { reason: 'no-key', lacks: 'person', keys: leads({ email: 'attendee.Mail' }), subject: vote() },
    { reason: 'no-person', keys: leads({ from: 'qna-questions' }), subject: anonymousQuestion },
    { reason: 'never-sent', keys: leads(), subject: removed('erased') },
    { reason: 'kept', keys: leads(), subject: removed('deleted') },
  ],
  slack: [
    { reason: 'condition', keys: messages({ when: 'false' }), subject: vote() },
    { reason: 'no-text', lacks: 'item', keys: messages({ text: 'item.text' }), subject: vote() },
    { reason: 'no-text', lacks: 'person', keys: messages({ text: 'attendee.text' }), subject: vote() },
    {
      reason: 'unchanged',
      keys: messages(),
      subject: vote(),
      objectAfter: (operation) => ({ ...message, ...(operation as unknown as { shown: Fields }).shown }),
    },
    { reason: 'ignored', keys: messages({ onChange: 'ignore' }), subject: vote({ object: message }) },
    { reason: 'not-editable', keys: messages(), subject: vote({ object: { state: 'blind' } }) },
    { reason: 'kept', keys: messages({ onWithdrawn: 'keep' }), subject: removed('deleted', message) },
    { reason: 'deleted', keys: messages(), subject: removed('deleted') },
    { reason: 'consent-withdrawn', keys: messages(), subject: removed('consent-withdrawn') },
    { reason: 'erased', keys: messages(), subject: removed('erased') },
  ],
  webhook: [],
  xapi: [
    {
      reason: 'no-actor',
      lacks: 'person',
      keys: statements({ actor: { mbox: 'attendee.Mail' }, activities: 'https://example.com' }),
      subject: vote(),
    },
    { reason: 'no-actor', lacks: 'person', keys: statements(), subject: vote({ attendee: null }) },
    {
      reason: 'no-activity',
      lacks: 'item',
      keys: statements({ credit: { ...credit, activity: 'session.code' } }),
      subject: interaction('engagement', counted),
    },
    {
      reason: 'no-activity',
      lacks: 'person',
      keys: statements({ credit: { ...credit, activity: 'attendee.code' } }),
      subject: interaction('engagement', counted),
    },
    {
      reason: 'condition',
      keys: statements({ credit: { ...credit, when: 'false' } }),
      subject: interaction('engagement', counted),
    },
    { reason: 'not-said', keys: statements({ statements: ['asked'] }), subject: vote() },
    { reason: 'not-signed-in', keys: statements(), subject: interaction('attendees', person) },
    { reason: 'no-question', keys: statements(), subject: interaction('votes', { session }) },
    {
      reason: 'no-session',
      keys: statements(),
      subject: subjectOf(sampleChange({ list: 'answers', sessionId: null, data: { answer: { content: 'x' } } }), {
        attendee: person,
        pigeonhole,
      }),
    },
    { reason: 'no-answer', keys: statements(), subject: interaction('answers', { session }) },
    { reason: 'no-rate', keys: statements(), subject: interaction('answer_ratings', votes) },
    { reason: 'no-option', keys: statements(), subject: interaction('poll-mcq-votes', votes) },
    {
      reason: 'unchanged',
      keys: statements(),
      subject: vote(),
      objectAfter: (operation) => (operation as unknown as { after: Fields }).after,
    },
    { reason: 'deleted', keys: statements(), subject: removed('deleted') },
    { reason: 'consent-withdrawn', keys: statements(), subject: removed('consent-withdrawn') },
    { reason: 'erased', keys: statements(), subject: removed('erased') },
  ],
};

async function planOf(type: string, { keys, subject, more, objectAfter }: Sample): Promise<[Planned, unknown]> {
  const sinkType = allSinks.get(type)!;
  const settings = sinkType.configSchema.parse(keys);
  const sink = sinkType.create(settings, environmentOf('sink', more ?? {}));
  try {
    const [first] = await sink.plan([subject]);
    if (objectAfter === undefined) return [first!, settings];
    if (first!.kind !== 'send') throw new Error(`the first plan sends nothing: ${JSON.stringify(first)}`);
    const [again] = await sink.plan([{ ...subject, object: objectAfter(first!.operation) }]);
    return [again!, settings];
  } finally {
    await sink.close();
  }
}

/** Returns the problem of a sink that withholds 20 changes of a list for a reason and sends none. */
function problemOf(type: string, settings: unknown, list: string, reason: string): string | null {
  const config = {
    syncs: { all: { workspace: 'acme', pigeonholes: {}, sinks: ['sink'] } },
    sinks: { sink: { type, settings } },
  } as unknown as Pick<Config, 'syncs' | 'sinks'>;
  const decided = Array.from({ length: 20 }, (_, n) => ({
    list,
    sequence: n + 1,
    replay: 0,
    state: 'withheld' as const,
    reason,
  }));
  const recent = Object.values(addDecisions({}, decided as never));
  const counts = [{ state: 'withheld', reason, changes: 20 } as const];
  const withholding = judgeList({ list, counts, recent });
  if (withholding === null) return null;
  const fields = ['question', 'session'].map((field) => ({
    field,
    member: null,
    types: { object: 20 },
    filled: 20,
    values: null,
  }));
  const seen = new Map([[list, [{ workspace: 'acme', pigeonholeId: 101, items: 20, fields }]]]);
  return withholdingSentence(config, 'sink', withholding, seen);
}

describe('the reasons of all sinks', () => {
  it.each([...allSinks])('have a sample each: %s', (type, { reasons }) => {
    const sampled = new Set(samples[type]!.map(({ reason }) => reason));
    expect([...sampled].toSorted()).toEqual(Object.keys(reasons).toSorted());
  });
});

const withReasons = [...allSinks].filter(([, { reasons }]) => Object.keys(reasons).length > 0);

describe.each(withReasons)('the reasons of %s', (type, { reasons }) => {
  const own = samples[type]!;

  it.each(own.map((sample) => [sample.reason, sample] as const))(
    'are a problem only if the mapping may be wrong, never because nobody may be named: %s',
    async (reason, sample) => {
      const { kind } = reasons[reason]!;
      expect(sample.lacks !== undefined).toBe(kind === 'missing-value');
      const { list } = sample.subject.change;
      const [planned, settings] = await planOf(type, sample);
      expect(planned).toEqual({ kind: 'nothing', reason });
      const mapping = { type, settings };
      const withheldAs = (identity: boolean): string =>
        (withHiddenReason(planned, { list, identity }, mapping) as { reason: string }).reason;

      // The identity is visible, so a missing value is the fault of the mapping.
      expect(withheldAs(true)).toBe(reason);
      const problem = problemOf(type, settings, list, reason);
      if (kind === 'missing-value') expect(problem).toMatch(/^all 20 [a-z_-]+ lack a value for \w+.*: sink\.[\w.[\]]+/);
      else expect(problem).toBeNull();

      // The identity is hidden: if the expression reads the person, the value is rightly absent.
      const isOfPerson = sample.lacks === 'person';
      expect(withheldAs(false)).toBe(isOfPerson ? whileIdentityHidden(reason) : reason);
      if (isOfPerson) expect(problemOf(type, settings, list, whileIdentityHidden(reason))).toBeNull();

      const isDecidedAgain = kind !== 'settled';
      expect([curableReasons.includes(reason), curableReasons.includes(whileIdentityHidden(reason))]).toEqual([
        isDecidedAgain,
        kind === 'missing-value',
      ]);
      expect(mappingReasons.includes(reason)).toBe(kind === 'missing-value' || kind === 'excluded');
    },
  );
});
