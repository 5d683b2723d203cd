import type { Planned, Subject, OnForget } from '../sink.js';
import type { XapiOperation } from './plan.js';
import { attendee, items, subjectFor, configurationFor } from './subjects.test-kit.js';
import { createXapiSink } from './xapi.js';
import { environmentOf } from '../sink-environment.test-kit.js';

const engagement = {
  scope: 'session',
  interactions: 3,
  asked: 1,
  offered: 5,
  evidence: ['votes:a', 'votes:b'],
  rule: 1,
};
const credit = {
  version: 1,
  when: 'item.scope = "session" and item.interactions >= 3',
  activity: '$string(session.id)',
};

const sinkWith = (keys: Readonly<Record<string, unknown>> = {}, onForget: OnForget = 'delete') =>
  createXapiSink(configurationFor('http://127.0.0.1:9/xapi', { credit, ...keys }), environmentOf('lms', { onForget }));

async function planOf(subject: Subject, keys?: Readonly<Record<string, unknown>>): Promise<Planned<XapiOperation>> {
  const sink = sinkWith(keys);
  const [planned] = await sink.plan([subject]);
  await sink.close();
  return planned!;
}

async function operationOf(subject: Subject, keys?: Readonly<Record<string, unknown>>): Promise<XapiOperation> {
  const planned = await planOf(subject, keys);
  if (planned.kind !== 'send') throw new Error(`nothing is sent: ${JSON.stringify(planned)}`);
  return planned.operation;
}

/** Returns the last part of each verb, in the order of the statements. */
const verbsOf = ({ statements }: XapiOperation) => statements.map(({ verb }) => verb.id.split('/').at(-1));

const pigeonholeId = 'https://example.com/workspaces/acme/pigeonholes/101';

describe('the statement of an item', () => {
  it.each([
    ['attendees', 'attended', 'meeting', pigeonholeId, undefined],
    ['qna-questions', 'asked', 'question', `${pigeonholeId}/questions/9001`, { response: 'When is lunch?' }],
    ['votes', 'voted-up', 'question', `${pigeonholeId}/questions/9001`, undefined],
    [
      'answer_ratings',
      'rated',
      'cmi.interaction',
      `${pigeonholeId}/questions/9001/answer`,
      { response: '4', score: { raw: 4 } },
    ],
    ['answers', 'responded', 'cmi.interaction', `${pigeonholeId}/sessions/5001/word-cloud`, { response: 'hopeful' }],
    ['poll-mcq-votes', 'answered', 'cmi.interaction', `${pigeonholeId}/questions/300`, { response: '3001' }],
    [
      'poll-quiz-votes',
      'answered',
      'cmi.interaction',
      `${pigeonholeId}/questions/301`,
      { response: '3011', duration: 'PT12S' },
    ],
  ] as const)('of %s has the verb "%s" and an activity of type %s', async (list, verb, type, object, result) => {
    const operation = await operationOf(subjectFor(list, items[list]));
    expect(verbsOf(operation)).toEqual([verb]);
    expect(operation.statements[0]).toMatchObject({
      actor: { objectType: 'Agent', account: { homePage: 'https://example.com', name: 'A-7' } },
      object: { id: object, definition: { type: `http://adlnet.gov/expapi/activities/${type}` } },
      context: { platform: expect.any(String), contextActivities: { grouping: [{ id: pigeonholeId }] } },
      timestamp: list === 'attendees' ? '2026-11-21T08:00:00.000Z' : '2026-11-21T09:30:00.000Z',
    });
    expect(operation.statements[0]!.result).toEqual(result);
    expect(operation.statements[0]!.context!.contextActivities.parent?.[0]?.id).toBe(`${pigeonholeId}/sessions/5001`);
  });

  it('has an id that depends only on its kind, item and revision', async () => {
    const id = async (fields: object, keys?: object) =>
      (await operationOf(subjectFor('votes', items.votes, fields), { ...keys })).statements[0]!.id;
    const first = await id({});
    expect(first).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(await id({ sequence: 9, timestamp: '2027-01-01T00:00:00.000Z' }, { activities: 'https://a.org' })).toBe(
      first,
    );
    const others = await Promise.all(
      [{ revision: 2 }, { key: 'v2' }, { pigeonholeId: 102 }, { workspace: 'other' }].map((fields) => id(fields)),
    );
    expect(new Set([first, ...others]).size).toBe(5);
  });

  it.each([
    [
      'an anonymous question',
      'qna-questions',
      { ...items['qna-questions'], attendee: { anonymous: true } },
      { attendee: null },
      'no-actor',
    ],
    ['an attendee without a code', 'votes', items.votes, { attendee: { id: 7 } }, 'no-actor'],
    [
      'an attendee with an empty code',
      'votes',
      items.votes,
      { attendee: { ...attendee, attendeeCode: ' ' } },
      'no-actor',
    ],
    ['an attendee who never signed in', 'attendees', { ...items.attendees, signInTime: null }, {}, 'not-signed-in'],
    [
      'a rating without its rate',
      'answer_ratings',
      { ...items.answer_ratings, answerRating: { id: 1 } },
      {},
      'no-rate',
    ],
    ['a poll vote without an option', 'poll-mcq-votes', { ...items['poll-mcq-votes'], option: null }, {}, 'no-option'],
    ['a list without statements', 'sessions', { id: 1 }, {}, 'not-said'],
    ['an item that was deleted before it had a statement', 'votes', null, {}, 'deleted'],
    ['an interaction count below the rule', 'engagement', { ...engagement, interactions: 2 }, {}, 'condition'],
  ])('is not created from %s', async (_, list, data, around, reason) => {
    expect(await planOf(subjectFor(list, data, {}, around))).toEqual({ kind: 'nothing', reason });
  });

  it('is created only for the kinds in the configuration', async () => {
    const keys = { statements: ['asked'], credit: undefined };
    expect(await planOf(subjectFor('votes', items.votes), keys)).toEqual({ kind: 'nothing', reason: 'not-said' });
    expect(await planOf(subjectFor('engagement', engagement), keys)).toEqual({ kind: 'nothing', reason: 'not-said' });
    expect(verbsOf(await operationOf(subjectFor('qna-questions', items['qna-questions']), keys))).toEqual(['asked']);
  });

  it('cannot be planned if the expression fails, and the message quotes no value', async () => {
    const planned = await planOf(subjectFor('votes', items.votes), {
      actor: { homePage: 'https://example.com', name: '$number(attendee.Name)' },
    });
    expect(planned).toMatchObject({ kind: 'unplannable', cause: expect.stringContaining('lms.actor.name') });
    expect(JSON.stringify(planned)).not.toContain('Ada');
  });
});

describe('the next statement of an item', () => {
  const question = items['qna-questions'];
  const asked = (content: string, fields: object = {}, around: Partial<Subject> = {}) =>
    subjectFor('qna-questions', { ...question, content }, fields, around);

  it('does not exist if an edit changes nothing that the statement contains', async () => {
    const { after: object } = await operationOf(asked('When?'));
    const moderated = subjectFor(
      'qna-questions',
      { ...question, content: 'When?', status: 'archived' },
      { revision: 2 },
      { object },
    );
    expect(await planOf(moderated)).toEqual({ kind: 'nothing', reason: 'unchanged' });
  });

  it('replaces and voids the first one in one request if the content changed', async () => {
    const first = await operationOf(asked('Wen?'));
    const second = await operationOf(asked('When?', { revision: 2 }, { object: first.after }));
    expect(verbsOf(second)).toEqual(['asked', 'voided']);
    expect(second.statements[1]!.object).toEqual({ objectType: 'StatementRef', id: first.statements[0]!.id });
    expect(second.after).toMatchObject({ statement: second.statements[0]!.id, unsure: [] });
  });

  it.each([
    ['was deleted', asked('x', { data: null, revision: 2 }, { removal: 'deleted' })],
    ['belongs to an attendee who has withdrawn consent', asked('x', { data: null }, { removal: 'consent-withdrawn' })],
    ['became anonymous', asked('When?', { revision: 2 }, { attendee: null })],
  ])('voids the first one and names nobody if the item %s', async (_, subject) => {
    const { after: object, statements } = await operationOf(asked('When?'));
    const operation = await operationOf({ ...subject, object });
    expect(verbsOf(operation)).toEqual(['voided']);
    expect(operation.statements[0]!.object).toMatchObject({ id: statements[0]!.id });
    expect(JSON.stringify(operation)).not.toMatch(/A-7|When|Ada/);
    expect(operation.after).toMatchObject({ statement: null, unsure: [] });
    expect(await planOf({ ...subject, object: operation.after })).toMatchObject({ kind: 'nothing' });
  });

  it('has another id if the first one was voided for the same revision', async () => {
    const first = await operationOf(asked('When?'));
    const voided = await operationOf(asked('When?', {}, { object: first.after, attendee: null }));
    const again = await operationOf(asked('When?', {}, { object: voided.after }));
    expect(verbsOf(again)).toEqual(['asked']);
    expect(again.statements[0]!.id).not.toBe(first.statements[0]!.id);
  });

  it('is the same one in a replay if it is still valid', async () => {
    const first = await operationOf(asked('When?'));
    const replayed = await operationOf(asked('When?', { revision: 4, replay: 'r1' }, { object: first.after }));
    expect(replayed.statements).toEqual(first.statements);
    expect([replayed.after, replayed.unsure]).toEqual([first.after, first.after]);
  });

  it('replaces and voids the first one in a replay with another mapping', async () => {
    const first = await operationOf(asked('When?'));
    const replayed = await operationOf(asked('When?', { replay: 'r1' }, { object: first.after }), {
      actor: { homePage: 'https://example.com', name: '"id-" & attendee.id' },
    });
    expect(verbsOf(replayed)).toEqual(['asked', 'voided']);
    expect(replayed.statements[0]!.id).not.toBe(first.statements[0]!.id);
  });

  describe('if the response to the first one was lost', () => {
    it('is the same one again', async () => {
      const first = await operationOf(asked('When?'));
      const again = await operationOf(asked('When?', {}, { object: first.unsure }));
      expect(again.statements).toEqual(first.statements);
    });

    it('voids a possibly stored one if the item has become anonymous in the meantime', async () => {
      const first = await operationOf(asked('When?'));
      const operation = await operationOf(asked('When?', {}, { object: first.unsure, attendee: null }));
      expect(operation.statements.map(({ object }) => object.id)).toEqual([first.statements[0]!.id]);
      expect(operation.after.unsure).toEqual([]);
      expect(operation.unsure.unsure).toEqual([first.statements[0]!.id]);
    });

    it('voids both if the item has changed again in the meantime', async () => {
      const first = await operationOf(asked('Wen?'));
      const second = await operationOf(asked('When?', { revision: 2 }, { object: first.after }));
      const third = await operationOf(asked('When is it?', { revision: 3 }, { object: second.unsure }));
      expect(verbsOf(third)).toEqual(['asked', 'voided', 'voided']);
      expect(third.statements.slice(1).map(({ object }) => object.id)).toEqual([
        first.statements[0]!.id,
        second.statements[0]!.id,
      ]);
    });
  });

  it('is left to an operator, with the ids, if onForget is manual', async () => {
    const { after: object, statements } = await operationOf(asked('When?'));
    const sink = sinkWith({}, 'manual');
    const [planned] = await sink.plan([asked('x', { data: null }, { object, removal: 'consent-withdrawn' })]);
    await sink.close();
    expect(planned).toMatchObject({
      kind: 'unplannable',
      cause: 'xapi:forget-by-hand',
      detail: expect.stringContaining(statements[0]!.id),
    });
  });

  it('leaves nothing about a person in the stored object', async () => {
    const { after, unsure } = await operationOf(asked('When?'));
    expect(JSON.stringify([after, unsure])).not.toMatch(/A-7|Ada|When/);
  });
});

describe('credit', () => {
  const earned = (item: object = {}, fields: object = {}, around: Partial<Subject> = {}) =>
    subjectFor('engagement', { ...engagement, ...item }, fields, around);

  it('states that an attendee completed the activity, with the rule and its evidence', async () => {
    const operation = await operationOf(earned());
    expect(verbsOf(operation)).toEqual(['completed']);
    expect(operation.statements[0]).toMatchObject({
      actor: { account: { name: 'A-7' } },
      object: { id: 'https://example.com/credits/5001' },
      result: {
        completion: true,
        extensions: {
          'urn:pigeonpost:xapi:credit': {
            version: 1,
            rule: 1,
            interactions: 3,
            offered: 5,
            evidence: ['votes:a', 'votes:b'],
          },
        },
      },
    });
  });

  it('uses an address as the activity unchanged', async () => {
    const operation = await operationOf(earned(), { credit: { ...credit, activity: '"https://lms.example.com/c/1"' } });
    expect(operation.statements[0]!.object.id).toBe('https://lms.example.com/c/1');
  });

  it('stays the same after more actions', async () => {
    const { after: object } = await operationOf(earned());
    const more = earned({ interactions: 9, evidence: ['votes:a', 'votes:b', 'votes:c'] }, { revision: 2 }, { object });
    expect(await planOf(more)).toEqual({ kind: 'nothing', reason: 'unchanged' });
  });

  it('is issued again if evidence that it names no longer counts', async () => {
    const { after: object } = await operationOf(earned());
    const less = earned({ evidence: ['votes:b', 'votes:c', 'votes:d'] }, { revision: 2 }, { object });
    const operation = await operationOf(less);
    expect(verbsOf(operation)).toEqual(['completed', 'voided']);
    expect(JSON.stringify(operation)).not.toContain('votes:a');
  });

  it('is voided if it is no longer earned', async () => {
    const { after: object } = await operationOf(earned());
    expect(verbsOf(await operationOf(earned({ interactions: 2 }, { revision: 2 }, { object })))).toEqual(['voided']);
  });

  it('is voided and issued again if the version of the rule changes', async () => {
    const { after: object, statements } = await operationOf(earned());
    const operation = await operationOf(earned({}, { revision: 2 }, { object }), { credit: { ...credit, version: 2 } });
    expect(verbsOf(operation)).toEqual(['completed', 'voided']);
    expect(operation.statements[1]!.object.id).toBe(statements[0]!.id);
  });
});

describe('the actor of a statement', () => {
  const ada = { id: 7, Email: ' Ada@Example.com ', attendeeCode: 'A-7' };
  const activities = 'https://example.com/events';
  const actorFor = async (actor: Readonly<Record<string, unknown>>, attendeeRecord: object = ada) => {
    const subject = subjectFor('votes', items.votes, {}, { attendee: { ...attendeeRecord } });
    const planned = await planOf(subject, { actor, activities });
    return planned.kind === 'send' ? planned.operation.statements[0]!.actor : planned;
  };

  it('is an account, an e-mail address, or the hash of one', async () => {
    const account = { homePage: 'https://example.com', name: 'A-7' };
    expect(await actorFor({ homePage: 'https://example.com', name: 'attendee.attendeeCode' })).toEqual({
      objectType: 'Agent',
      account,
    });
    expect(await actorFor({ mbox: 'attendee.Email' })).toEqual({
      objectType: 'Agent',
      mbox: 'mailto:Ada@Example.com',
    });
    // printf 'mailto:ada@example.com' | sha1sum
    const hash = '72ac10875be5a7770a4f31058ea797edb8e55020';
    const hashed = { objectType: 'Agent', mbox_sha1sum: hash };
    expect(await actorFor({ mboxSha1sum: '$lowercase(attendee.Email)' })).toEqual(hashed);
    expect(await actorFor({ mboxSha1sum: 'attendee.hash' }, { ...ada, hash: hash.toUpperCase() })).toEqual(hashed);
  });

  it.each(['\u200bada@example.com', 'mailto:ada@exam\u00adple.com', '\u202aada@example.com\u202c\u00a0'])(
    'is an address without what nobody meant: %j',
    async (Email) => {
      const mbox = 'mailto:ada@example.com';
      expect(await actorFor({ mbox: 'attendee.Email' }, { ...ada, Email })).toMatchObject({ mbox });
    },
  );

  it.each([
    '',
    'nobody',
    `${'l'.repeat(65)}@example.com`,
    'a b@example.com',
    'ada@example',
    'ada@example.com, bob@example.com',
  ])('does not exist if %j is used as an e-mail address', async (Email) => {
    const nobody = { kind: 'nothing', reason: 'no-actor' };
    expect(await actorFor({ mbox: 'attendee.Email' }, { ...ada, Email })).toEqual(nobody);
    expect(await actorFor({ mboxSha1sum: 'attendee.Email' }, { ...ada, Email })).toEqual(nobody);
  });

  it('is an account of pigeonpost below the activities in a statement that voids another', async () => {
    const keys = { actor: { mbox: 'attendee.Email' }, activities };
    const around = { attendee: ada };
    const { after } = await operationOf(subjectFor('votes', items.votes, {}, around), keys);
    const gone = await operationOf(subjectFor('votes', null, { revision: 2 }, { ...around, object: after }), keys);
    expect(gone.statements).toMatchObject([{ actor: { account: { homePage: activities, name: 'pigeonpost' } } }]);
  });

  it('with a changed address has its statement voided and issued again', async () => {
    const keys = { actor: { mbox: 'attendee.Email' }, activities };
    const first = await operationOf(subjectFor('votes', items.votes, {}, { attendee: ada }), keys);
    const around = (Email: string) => ({ attendee: { ...ada, Email }, object: first.after });
    expect(await planOf(subjectFor('votes', items.votes, {}, around(ada.Email)), keys)).toMatchObject({
      kind: 'nothing',
      reason: 'unchanged',
    });
    const moved = await operationOf(subjectFor('votes', items.votes, { revision: 2 }, around('ada@example.org')), keys);
    expect(moved.statements).toHaveLength(2);
  });
});
