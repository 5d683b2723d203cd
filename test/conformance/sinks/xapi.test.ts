import fc from 'fast-check';
import { Secret } from '../../../config/secret.js';
import type { Fields, OnForget, Sink, Subject } from '../../../sinks/sink.js';
import type { XapiOperation } from '../../../sinks/xapi/plan.js';
import { items, subjectFor, configurationFor } from '../../../sinks/xapi/subjects.test-kit.js';
import { createXapiSink, xapiSinkType } from '../../../sinks/xapi/xapi.js';
import {
  lrsFaults,
  type LrsDouble,
  type LrsDoubleOptions,
  startLrsDouble,
} from '../../../sandbox/lrs/start-lrs-double.js';
import type { FaultEffect } from '../../../sandbox/serve/faults.js';
import { Auditor, type Delivered } from './auditor.js';
import { withDeclaredCodes } from './declared-codes.js';
import { StateCourier, type StateDestination } from './state-destination.js';
import { describeStateSink } from './state-sink-conformance.js';
import { PERSONAL_DATA } from './generated-changes.js';
import { environmentOf, laneOf } from '../../../sinks/sink-environment.test-kit.js';

const account = { username: 'lrs-key', password: 'lrs-s3cret' };
const credit = { version: 1, when: 'item.interactions >= 3', activity: '$string(session.id)' };
const engagement = { scope: 'session', interactions: 3, asked: 1, offered: 5, evidence: ['votes:a'], rule: 1 };

interface XapiDestination extends StateDestination {
  readonly lrs: LrsDouble;
  open(): Sink<XapiOperation>;
}

type Keys = (lrs: LrsDouble) => Readonly<Record<string, unknown>>;

async function startLrs(options: LrsDoubleOptions = {}, keys: Keys = () => ({})): Promise<XapiDestination> {
  const lrs = await startLrsDouble({ accounts: [account], ...options });
  const effects: Readonly<Record<string, FaultEffect>> = {
    'answer-lost': { kind: 'dropAfter' },
    'never-arrives': { kind: 'dropBefore' },
    'error-after': lrsFaults['server-error-after']!,
    auth: lrsFaults['unauthorized']!,
    overload: lrsFaults['too-many']!,
    outage: lrsFaults['bad-gateway']!,
    cut: { kind: 'dropBefore' },
  };
  return {
    lrs,
    open: () =>
      createXapiSink(
        configurationFor(lrs.endpoint, { credit, ...keys(lrs) }),
        environmentOf('lms', { requestTimeoutMs: 60_000 }),
      ),
    state: () => standing(lrs),
    requests: () => lrs.requests.length,
    fail: (how, skip) => lrs.faults.add({ effect: effects[how]!, skip }),
    begin: (refusal) => lrs.faults.add({ effect: effects[refusal]!, times: 1_000_000 }),
    repair: () => lrs.faults.clear(),
    secrets: [account.password, Buffer.from(`${account.username}:${account.password}`).toString('base64')],
    close: () => lrs.close(),
  };
}

/** Returns the statements of the LRS for comparison, without voiding ones and without the properties that it assigned. */
function standing({ store }: LrsDouble): string[] {
  return store.all
    .filter(({ id, verb }) => store.voiderOf(id) === undefined && !JSON.stringify(verb).includes('/voided'))
    .map(({ id, actor, verb, object, result }) => JSON.stringify({ id, actor, verb, object, result }))
    .toSorted();
}

const everything = (edit: string): Subject[] => {
  const long = `${PERSONAL_DATA[0]} ${edit} ${'x'.repeat(300_000)}`; // so that it needs more than one request
  return [
    subjectFor('attendees', { ...items.attendees, signInTime: `2026-11-21T08:0${edit.length}:00Z` }),
    subjectFor('qna-questions', { ...items['qna-questions'], content: long }),
    subjectFor('answers', { ...items.answers, answer: { id: 41, content: long } }),
    subjectFor('votes', { ...items.votes, question: { id: 9000 + edit.length, content: 'x' } }),
    subjectFor('answer_ratings', { ...items.answer_ratings, answerRating: { id: 31, rate: edit.length } }),
    subjectFor('poll-mcq-votes', { ...items['poll-mcq-votes'], option: { id: 3000 + edit.length, content: long } }),
    subjectFor('poll-quiz-votes', { ...items['poll-quiz-votes'], timeTaken: edit.length }),
    subjectFor('engagement', { ...engagement, evidence: [`votes:${edit}`] }),
  ];
};
const atRevision = (revision: number, subjects: readonly Subject[]): Subject[] =>
  subjects.map((subject) => {
    const { change } = subject;
    return {
      ...subject,
      change: { ...change, revision, id: `00000000-0000-5000-8000-${revision}${change.id.slice(-11)}` },
    };
  });

/** Returns votes of one attendee for several options of a question, each with the others as its siblings. */
function answersToOneQuestion(
  count: number,
  { text, key }: { readonly text: string; readonly key: string },
  around: Partial<Subject>,
): Subject[] {
  const votes = Array.from({ length: count }, (_, index) => {
    const option = { id: index + 1, content: text };
    const vote = { ...items['poll-mcq-votes'], question: { id: 2, content: text }, option };
    return subjectFor('poll-mcq-votes', vote, { key: `${key}-${index}` }, around);
  });
  return votes.map((vote) => ({ ...vote, siblings: votes.filter((each) => each !== vote) }));
}

const poisoned = subjectFor('votes', items.votes, { key: 'poison' });

describeStateSink('xapi', {
  type: xapiSinkType,
  async start() {
    const destination = await startLrs();
    // Store a different statement under the id that the poisoned vote will get.
    const sink = destination.open();
    const [planned] = await sink.plan([poisoned]);
    await sink.close();
    const { statements } = (planned as { operation: XapiOperation }).operation;
    const { id, ...other } = statements[0]!;
    const authority = { objectType: 'Agent' };
    destination.lrs.store.add(
      { ...JSON.parse(JSON.stringify(other)), id, timestamp: '2020-01-01T00:00:00Z' },
      authority,
    );
    return { ...destination, state: () => standing(destination.lrs).filter((each) => !each.includes(id)) };
  },
  story: () => everything('one'),
  edited: () => atRevision(2, everything('other')),
  poison: () => poisoned,
  isFoundAgain: () => true,
  overloadAsksMs: 2000,
});

const lane = laneOf();
const goingOn = new AbortController().signal;

describe('a strict LRS', () => {
  let destination: XapiDestination;
  let sink: Sink<XapiOperation>;
  const open = async (options?: LrsDoubleOptions, keys?: Keys): Promise<void> => {
    destination = await startLrs(options, keys);
    sink = destination.open();
  };
  afterEach(async () => {
    await sink.close();
    await destination.close();
  });
  const planned = async (subjects: readonly Subject[]): Promise<XapiOperation[]> =>
    (await sink.plan(subjects)).flatMap((each) => (each.kind === 'send' ? [each.operation] : []));

  it('accepts a statement for every list, regardless of texts and names', async () => {
    await open();
    const anyText = fc.string({ unit: 'binary', maxLength: 60 });
    let key = 0;
    await fc.assert(
      fc.asyncProperty(anyText, anyText, anyText, async (text, name, code) => {
        key += 1;
        const around = {
          attendee: { id: 7, attendeeCode: code === '' ? 'A' : code },
          session: { id: 5001, name },
          pigeonhole: { id: 101, name },
        };
        const question = { id: 1, content: text };
        const subjects = [
          subjectFor('qna-questions', { ...items['qna-questions'], content: text }, { key: `${key}` }, around),
          subjectFor('answers', { ...items.answers, answer: { id: 1, content: text } }, { key: `${key}` }, around),
          subjectFor('votes', { ...items.votes, question }, { key: `${key}` }, around),
          subjectFor('answer_ratings', { ...items.answer_ratings, question }, { key: `${key}` }, around),
          subjectFor(
            'poll-mcq-votes',
            { ...items['poll-mcq-votes'], question, option: question },
            { key: `${key}` },
            around,
          ),
          subjectFor('engagement', engagement, { key: `${key}` }, around),
          ...answersToOneQuestion(2, { text, key: `${key}` }, around),
        ];
        const { outcomes } = await sink.send(await planned(subjects), lane, goingOn);
        expect(outcomes.map((outcome) => (outcome.kind === 'delivered' ? outcome.kind : outcome))).toEqual(
          outcomes.map(() => 'delivered'),
        );
        const responses = destination.lrs.store.all.map(({ result }) => (result as Fields | undefined)?.['response']);
        expect(responses.filter((response) => response === '1[,]2')).toHaveLength(key);
      }),
      { numRuns: 100 },
    );
  });

  it('has only the latest statement of an item, or none, after edits, hiding, showing again and lost answers', async () => {
    await open();
    const step = fc.record({
      what: fc.constantFrom('edit to a', 'edit to b', 'hide', 'show'),
      answer: fc.constantFrom('comes', 'is lost', 'is lost, and the next step comes before the repeat'),
    });
    let item = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 10 }), async (story) => {
        item += 1;
        const said = { revision: 1, content: 'first', shown: true };
        let object: Fields | null = null;
        const send = async (): Promise<void> => {
          const data = { ...items['qna-questions'], id: item, content: said.content };
          const around = { object, ...(!said.shown && { attendee: null }) };
          const operations = await planned([
            subjectFor('qna-questions', data, { key: `${item}`, revision: said.revision }, around),
          ]);
          for (const outcome of (await sink.send(operations, lane, goingOn)).outcomes) {
            if (outcome.object !== undefined) object = outcome.object;
          }
        };
        for (const { what, answer } of story) {
          if (what.startsWith('edit')) Object.assign(said, { revision: said.revision + 1, content: what, shown: true });
          else said.shown = what === 'show';
          if (answer !== 'comes') destination.lrs.faults.add({ effect: { kind: 'dropAfter' } });
          await send();
          destination.lrs.faults.clear();
          if (answer === 'is lost') await send();
        }
        await send();
        const left = standing(destination.lrs).filter((each) => each.includes(`/questions/${item}"`));
        expect(left.map((each) => (JSON.parse(each) as { result: Fields }).result['response'])).toEqual(
          said.shown ? [said.content] : [],
        );
      }),
      { numRuns: 150 },
    );
  });

  it('accepts 99 of 100 statements in at most 15 requests if one is invalid', async () => {
    await open();
    const subjects = Array.from({ length: 100 }, (_, index) =>
      subjectFor('votes', { ...items.votes, createdAt: '2026-11-21T09:30:00Z' }, { key: `v${index}` }),
    );
    const operations = await planned(subjects);
    const bad = operations[62]!.statements[0]! as { timestamp: string };
    const broken = operations.with(62, { ...operations[62]!, statements: [{ ...bad, timestamp: 'noon' } as never] });
    const { outcomes } = await sink.send(broken, lane, goingOn);
    expect(outcomes.filter(({ kind }) => kind === 'delivered')).toHaveLength(99);
    expect(outcomes[62]).toMatchObject({ kind: 'rejected', cause: 'http:400' });
    expect(destination.lrs.requests.filter(({ path }) => path.endsWith('/statements')).length).toBeLessThanOrEqual(15);
  });

  it.each<LrsDoubleOptions>([{ repeats: 'conflict' }, { comparison: 'specification' }, { comparison: 'exact' }])(
    'that chooses %j has an edit once though its answer was lost and names have changed since',
    async (choice) => {
      await open(choice);
      const first = subjectFor('qna-questions', items['qna-questions']);
      const [operation] = await planned([first]);
      const [{ object } = { object: null }] = (await sink.send([operation!], lane, goingOn)).outcomes;
      const edited = { ...items['qna-questions'], content: 'When?' };
      const at = (name: string, known: Fields | null | undefined) =>
        subjectFor('qna-questions', edited, { revision: 2 }, { session: { id: 5001, name }, object: known ?? null });
      destination.lrs.faults.add({ effect: { kind: 'dropAfter' } });
      const [lost] = (await sink.send(await planned([at('Opening', object)]), lane, goingOn)).outcomes;
      expect(lost!.kind).toBe('retry');
      const [again] = (await sink.send(await planned([at('Welcome', lost!.object)]), lane, goingOn)).outcomes;
      expect(again!.kind).toBe('delivered');
      expect(standing(destination.lrs)).toEqual([expect.stringContaining('When?')]);
    },
  );

  it('is asked again if it shows stored statements with a delay, and nothing is given up', async () => {
    let now = Date.parse('2026-11-21T10:00:00Z');
    await open({ repeats: 'conflict', visibleAfterMs: 5000, now: () => now });
    const operations = await planned([subjectFor('votes', items.votes)]);
    await sink.send(operations, lane, goingOn);
    expect((await sink.send(operations, lane, goingOn)).outcomes[0]!.kind).toBe('retry');
    now += 5000;
    expect((await sink.send(operations, lane, goingOn)).outcomes[0]!.kind).toBe('delivered');
  });

  it.each(['1.0.3', '2.0.0'] as const)('of xAPI %s alone is checked, and takes statements', async (version) => {
    await open({ versions: [version] });
    expect((await sink.check(goingOn)).map(({ ok, text }) => `${ok} ${text}`)).toEqual([
      expect.stringMatching(`^true .* is an LRS for xAPI ${version.slice(0, 3)}$`),
      expect.stringMatching(/^true .* accepts the credentials$/),
    ]);
    const { outcomes } = await sink.send(await planned(everything('one')), lane, goingOn);
    expect(new Set(outcomes.map(({ kind }) => kind))).toEqual(new Set(['delivered']));
  });

  it('receives no property that it assigns itself, and only one identifier of an actor', async () => {
    await open();
    await sink.send(await planned(everything('one')), lane, goingOn);
    const sent = destination.lrs.store.all.map(({ id }) => destination.lrs.store.sentAs(id)!);
    expect(sent.length).toBeGreaterThan(5);
    for (const statement of sent) {
      expect(Object.keys(statement)).not.toEqual(expect.arrayContaining(['stored', 'authority', 'version']));
      expect(Object.keys(statement['actor'] as object).toSorted()).toEqual(['account', 'objectType']);
    }
  });

  it.each([
    ['mbox', { mbox: '"ada@example.com"' }],
    ['mbox_sha1sum', { mboxSha1sum: '"ada@example.com"' }],
  ])('accepts people who are identified by %s', async (identifier, actor) => {
    await open({}, () => ({ actor, activities: 'https://example.com' }));
    const { outcomes } = await sink.send(await planned([subjectFor('votes', items.votes)]), lane, goingOn);
    expect(outcomes[0]!.kind).toBe('delivered');
    expect(Object.keys(destination.lrs.store.all[0]!.actor).toSorted()).toEqual([identifier, 'objectType'].toSorted());
  });

  it('issues one token, another one after it expires, and none for wrong credentials', async () => {
    const clientSecret = new Secret(account.password);
    const oauth = (lrs: LrsDouble) => ({ tokenUrl: lrs.tokenUrl, clientId: account.username, clientSecret });
    await open({}, (lrs) => ({ username: undefined, password: undefined, oauth: oauth(lrs) }));
    const tokens = () => destination.lrs.requests.filter(({ path }) => path === '/oauth/token').length;
    const send = async (key: string) => {
      const operations = await planned([subjectFor('votes', items.votes, { key })]);
      return (await sink.send(operations, lane, goingOn)).outcomes[0];
    };
    expect(await send('one')).toMatchObject({ kind: 'delivered' });
    expect(await send('two')).toMatchObject({ kind: 'delivered' });
    expect(tokens()).toBe(1);
    destination.lrs.expireTokens();
    expect(await send('three')).toMatchObject({ kind: 'delivered' });
    expect(tokens()).toBe(2);
    destination.lrs.expireTokens();
    destination.lrs.revoke(account.username);
    expect(await send('four')).toMatchObject({ kind: 'pause', cause: 'credential' });
    expect(JSON.stringify(await send('five'))).not.toContain(account.password);
  });

  it('pauses the sink if the credentials may not void, and stores nothing of an edit', async () => {
    await open({ accounts: [{ ...account, mayVoid: false }] });
    const courier = new StateCourier(destination);
    courier.add([subjectFor('votes', items.votes)]);
    await courier.sendAll();
    courier.add(atRevision(2, [subjectFor('votes', { ...items.votes, question: { id: 1, content: 'x' } })]));
    expect((await courier.sendOnce())[0]).toMatchObject({ kind: 'pause', cause: 'credential' });
    expect(standing(destination.lrs)).toHaveLength(1);
    await courier.close();
  });
});

describe('the statements of an LRS, read back', () => {
  let destination: XapiDestination;
  let sink: Sink<XapiOperation>;
  let auditor: Auditor;
  const open = async (options?: LrsDoubleOptions, onForget: OnForget = 'delete'): Promise<void> => {
    destination = await startLrs(options);
    const config = configurationFor(destination.lrs.endpoint, { credit });
    sink = withDeclaredCodes(xapiSinkType, createXapiSink(config, environmentOf('lms', { onForget })));
    auditor = new Auditor(sink);
  };
  afterEach(async () => {
    await sink.close();
    await destination.close();
  });

  const question = (n: number, revision = 1, content = `question ${n}`): Subject =>
    subjectFor('qna-questions', { ...items['qna-questions'], id: n, content }, { key: `q${n}`, revision });
  const removed = (subject: Subject, removal: 'deleted' | 'erased'): Subject => ({
    ...subject,
    change: { ...subject.change, data: null, revision: subject.change.revision + 1 },
    removal,
  });
  const planned = async (subjects: readonly Subject[]): Promise<XapiOperation[]> =>
    (await sink.plan(subjects)).flatMap((each) => (each.kind === 'send' ? [each.operation] : []));
  const idOf = (key: string): string => auditor.objects.get(`qna-questions ${key}`)!['statement'] as string;
  const voidingOf = (id: string): string => destination.lrs.store.voiderOf(id)!;

  it('show every planted difference and no other, and a repair leaves none', async () => {
    await open();
    const { store } = destination.lrs;
    const all = [
      ...everything('one').map((subject) => ({ subject })),
      ...answersToOneQuestion(3, { text: 'x', key: 'several' }, {}).map((subject) => ({ subject })),
      ...Array.from({ length: 400 }, (_, n) => ({ subject: question(n) })),
    ];
    await auditor.deliver(all.map(({ subject }) => subject));
    const erasedIds = [300, 301].map((n) => idOf(`q${n}`));
    const items: Delivered[] = all.map(({ subject }) => {
      const { key } = subject.change;
      if (key === 'q20') return { subject: question(20, 2, 'edited') };
      if (key === 'q21') return { subject: question(21, 2, 'edited') };
      if (key === 'q300' || key === 'q301') return { subject: removed(subject, 'erased') };
      return { subject };
    });
    const oldIds = { q20: idOf('q20'), q21: idOf('q21') };
    await auditor.deliver(items.map(({ subject }) => subject));
    expect(await auditor.differences(items)).toEqual({});

    store.remove(idOf('q1')); // deleted
    store.edit(idOf('q2'), { result: { response: 'another text' } }); // edited in the database
    store.edit(idOf('q3'), { actor: { ...store.find(idOf('q3'))!.actor, name: 'A display name' } }); // means the same
    const known = auditor.objects.get('qna-questions q4')!;
    const [voiding] = await planned([{ ...removed(question(4), 'deleted'), object: known }]);
    const byAnother = { ...voiding!.statements[0], id: '00000000-0000-4000-8000-00000000abcd' };
    store.add(JSON.parse(JSON.stringify(byAnother)) as typeof byAnother, {}); // voided by another client
    store.remove(voidingOf(oldIds.q20)); // one revision behind, as in a restored backup
    store.remove(idOf('q20'));
    store.remove(voidingOf(erasedIds[0]!)); // the statement of an erased person is valid again
    const planted = {
      q1: ['missing'],
      q2: ['result.response'],
      q4: ['missing'],
      q20: ['result.response'],
      q300: ['extra', 'statement'],
    };
    expect(await auditor.differences(items)).toEqual(planted);

    const before = new Set(store.all.map(({ id }) => id));
    expect(await auditor.repair(items)).toEqual([]);
    expect(await auditor.differences(items)).toEqual({});
    const added = store.all.filter(({ id }) => !before.has(id)).map(({ verb }) => String(verb['id']).split('/').at(-1));
    // Issued again: q1, q2, q4 and q20. Voided: the edited and the earlier one, and the one of the erased person.
    const count = (verb: string): number => added.filter((each) => each === verb).length;
    expect([count('asked'), count('voided'), added.length]).toEqual([4, 3, 7]);
    expect(store.voiderOf(oldIds.q20)).toBeDefined();
    expect(store.voiderOf(erasedIds[0]!)).toBeDefined();
  });

  it('cannot be read without the right to read, which the result says', async () => {
    await open({ accounts: [{ ...account, mayRead: false }] });
    await auditor.deliver([question(1)]);
    expect(await auditor.differences([{ subject: question(1) }])).toEqual({ q1: ['unreadable: statement-unreadable'] });
  });

  it('that the settings leave to an operator are extra as long as they are valid', async () => {
    await open({}, 'manual');
    await auditor.deliver([question(1)]);
    const gone = { subject: removed(question(1), 'erased') };
    expect(await auditor.differences([gone])).toEqual({ q1: ['extra'] });
  });

  it('are read again later if the LRS shows them with a delay, asks for a pause, or the audit is stopped', async () => {
    let now = Date.now();
    await open({ visibleAfterMs: 3_600_000, now: () => now });
    await auditor.deliver([question(1)]);
    expect(await auditor.differences([{ subject: question(1) }])).toEqual({ q1: ['retry'] });
    now += 2 * 3_600_000;
    expect(await auditor.differences([{ subject: question(1) }])).toEqual({});
    expect(await new Auditor(sink, AbortSignal.abort()).differences([{ subject: question(1) }])).toEqual({
      q1: ['retry'],
    });
    destination.lrs.faults.add({ effect: lrsFaults['too-many']!, times: 1 });
    expect(await auditor.differences([{ subject: question(1) }])).toEqual({ q1: ['retry'] });
    const requests = destination.lrs.requests.length;
    expect(await auditor.differences([{ subject: question(1) }])).toEqual({ q1: ['retry'] });
    expect(destination.lrs.requests.length).toBe(requests); // still within the pause
  });
});
