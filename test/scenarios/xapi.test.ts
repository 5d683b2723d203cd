import { kinds } from '../kit/scenario-kinds.js';
import { type LrsDouble, startLrsDouble } from '../../sandbox/lrs/start-lrs-double.js';
import { reasonWords } from '../../sinks/reason-words.js';
import { answer, attendee, pollVote, rating, session, vote } from '../kit/items.js';
import type { Scene } from '../kit/scene.js';
import { type Stage, useStages } from '../kit/stage.js';
import { statusOf } from '../kit/status-of.js';

const stages = useStages();
const named = { anonymousResponses: false };
const by = (id: number) => ({ id, anonymous: false });

let lrs: LrsDouble;
beforeEach(async () => {
  lrs = await startLrsDouble({ accounts: [{ username: 'key', password: 's3cret' }] });
});
afterEach(() => lrs.close());

async function sceneOf(stage: Stage, more = ''): Promise<Scene> {
  const lms = `{ type: xapi, endpoint: "${lrs.endpoint}", username: key, password: "\${LRS_SECRET}",
      actor: { homePage: "https://example.com", name: attendee.attendeeCode },
      credit: { version: 1, when: item.scope = "session" and item.interactions >= 3, activity: $string(session.id) } ${more} }`;
  return await stage.scene({ sinks: { lms: lms.replaceAll('\n', ' ') }, environment: { LRS_SECRET: 's3cret' } });
}

/** Returns the statements in the LRS that are neither voided nor void others. */
function valid() {
  const { store } = lrs;
  return store.all.filter(
    ({ id, verb }) => store.voiderOf(id) === undefined && !String(verb['id']).endsWith('/voided'),
  );
}

/** Returns them as `<who> <verb> <what>`. */
function told(): string[] {
  return valid()
    .map(({ actor, verb, object }) => {
      const { name } = actor['account'] as { name: string };
      const lastParts = (id: unknown, count: number) => String(id).split('/').slice(-count).join('/');
      return `${name} ${lastParts(verb['id'], 1)} ${lastParts(object['id'], 2)}`;
    })
    .toSorted();
}

/** Returns the responses of the valid statements about polls, and the number of all statements with voided ones. */
function responses(): [string[], number] {
  return [
    valid().flatMap(({ result }) => (result as { response?: string } | undefined)?.response ?? []),
    lrs.store.all.length,
  ];
}

/** From now on, the LRS stores statements but closes the connection before it answers. */
function loseAnswers(): void {
  lrs.faults.add({ effect: { kind: 'dropAfter' }, method: 'POST', times: Number.POSITIVE_INFINITY });
}

describe.each(kinds)('an LRS, on %s', (kind) => {
  it('receives all statements but one if it fails on every request with that one', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1, named));
    await stage.put('attendees', ...Array.from({ length: 80 }, (_, n) => attendee(n + 1)));
    await stage.put('votes', ...Array.from({ length: 80 }, (_, n) => vote(200 + n, n + 1, 1)));
    const scene = await sceneOf(stage, ', statements: [voted]');
    lrs.faults.add({
      effect: { kind: 'answer', answer: { status: 500, json: {} } },
      method: 'POST',
      bodyHas: '"name":"code-33"',
      times: Number.POSITIVE_INFINITY,
    });
    for (let round = 0; round < 4; round += 1) {
      await scene.settle();
      await stage.retriesAreDue();
    }
    expect(told()).toHaveLength(79);
    const [sink] = (await statusOf(scene)).sinks;
    expect(sink).toMatchObject({ backlog: 1, dead: {} });
    expect(sink!.state).not.toBe('failing');

    const [before] = await stage.db.query<{ attempts: number }>('select max(attempts) as attempts from deliveries');
    await stage.put('votes', ...Array.from({ length: 20 }, (_, n) => vote(400 + n, n + 41, 1)));
    await stage.pollsAreDue();
    await stage.retriesAreDue();
    await scene.settle();
    expect(told()).toHaveLength(99); // at once, although the bad one was tried again beside them
    const [after] = await stage.db.query<{ attempts: number }>('select max(attempts) as attempts from deliveries');
    expect(after!.attempts).toBeGreaterThan(before!.attempts);
  });

  it('withholds answers of anonymous people without blaming the mapping', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1), session(2, { type: 'poll_word_cloud' }));
    await stage.put('attendees', attendee(1));
    await stage.put('answers', ...Array.from({ length: 30 }, (_, n) => answer(100 + n, 1, 2)));
    await stage.put('votes', ...Array.from({ length: 30 }, (_, n) => vote(200 + n, 1, 1)));
    const scene = await sceneOf(stage);
    await scene.settle();
    const [sink] = (await statusOf(scene)).sinks;
    expect(sink).toMatchObject({ name: 'lms', withholding: [] });
    expect(sink!.withheld['identity-hidden:no-actor']).toBeGreaterThanOrEqual(60);
    expect((await statusOf(scene)).problems.filter(({ kind: of }) => of === 'sink')).toEqual([]);
  });

  it('shows no problem if answers and ratings are anonymous and polls are named, and one for a renamed field', async () => {
    const stage = await stages.open(kind);
    const poll = (n: number) => pollVote(300 + n, by(n + 1), 3, { question: { id: 70 + n, content: 'Which?' } });
    await stage.put('sessions', session(1), session(2, { type: 'poll_word_cloud' }), session(3, named));
    await stage.put('attendees', ...Array.from({ length: 110 }, (_, n) => attendee(n + 1)));
    await stage.put('answers', ...Array.from({ length: 30 }, (_, n) => answer(100 + n, n + 1, 2)));
    await stage.put('answer_ratings', ...Array.from({ length: 30 }, (_, n) => rating(200 + n, 9, n + 1, 1)));
    await stage.put('poll-mcq-votes', ...Array.from({ length: 80 }, (_, n) => poll(n)));
    const scene = await sceneOf(stage, ', statements: [answered, responded, rated]');
    await scene.settle();
    const shown = async () => {
      const { sinks, problems } = await statusOf(scene);
      return { sink: sinks[0]!, problems: problems.filter(({ kind: of }) => of === 'sink') };
    };
    const { sink, problems } = await shown();
    expect([sink.withholding, problems]).toEqual([[], []]);
    expect(sink.withheld['identity-hidden:no-actor']).toBe(60);
    expect(told()).toHaveLength(80);
    expect(reasonWords('identity-hidden:no-actor')).toBe('no actor while the identity is hidden');

    await stage.put(
      'attendees',
      ...Array.from({ length: 110 }, (_, n) => attendee(n + 1, { attendeeCode: '', badge: n })),
    );
    await stage.put('poll-mcq-votes', ...Array.from({ length: 30 }, (_, n) => poll(80 + n)));
    await stage.sweepsAreDue();
    await scene.settle();
    const says = expect.stringContaining('lack a value for name: lms.actor.name') as string;
    expect((await shown()).sink.withholding).toContainEqual({ list: 'poll-mcq-votes', kind: 'more', text: says });
  });

  it('receives the chosen options of a person as one statement, and a new statement when they change', async () => {
    const stage = await stages.open(kind);
    const choose = (id: number, option: number, question = 70) =>
      pollVote(id, by(1), 1, { question: { id: question, content: 'Which?' }, option: { id: option, content: 'x' } });
    await stage.put('sessions', session(1, named));
    await stage.put('attendees', attendee(1));
    await stage.put('poll-mcq-votes', choose(51, 702), choose(52, 701), choose(53, 801, 80));
    const scene = await sceneOf(stage, ', statements: [answered], onConsentWithdrawn: forget');
    await scene.settle();
    expect(responses()).toEqual([['701[,]702', '801'], 2]);

    await stage.put('poll-mcq-votes', choose(54, 703));
    await stage.pollsAreDue();
    await scene.settle();
    expect(responses()).toEqual([['801', '701[,]702[,]703'], 4]);

    await stage.remove('poll-mcq-votes', 51);
    await stage.sweepsAreDue();
    await scene.settle();
    await stage.timePasses(31_000); // a deletion needs two requests
    await stage.sweepsAreDue();
    await scene.settle();
    expect(responses()).toEqual([['801', '701[,]703'], 6]);

    await stage.patch('poll-mcq-votes', 54, { attendee: { id: 1, anonymous: true } });
    await stage.sweepsAreDue();
    await scene.settle();
    expect(responses()[0]).toEqual(['801', '701']);

    await stage.patch('attendees', 1, { consent: { obtained: false } });
    await stage.pollsAreDue();
    await scene.settle();
    expect(responses()[0]).toEqual([]);

    await stage.patch('attendees', 1, { consent: { obtained: true } });
    await stage.pollsAreDue();
    await scene.settle();
    expect(responses()[0].toSorted()).toEqual(['701', '801']);
  });

  it('receives chosen options as one statement, even if the question contains hostile texts', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1, named));
    await stage.put('attendees', attendee(1));
    const question = { id: 70, content: 'NUL \0, half \ud800' };
    const choose = (id: number) => pollVote(id, by(1), 1, { question, option: { id: id + 1000, content: 'x' } });
    await stage.put('poll-mcq-votes', choose(51), choose(52));
    const scene = await sceneOf(stage, ', statements: [answered]');
    await scene.settle();
    expect(responses()).toEqual([['1051[,]1052'], 1]);
  });

  it('receives chosen options once even if its answers were lost', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1, named));
    await stage.put('attendees', attendee(1));
    const choose = (id: number) => pollVote(id, by(1), 1, { option: { id: id + 1000, content: 'x' } });
    await stage.put('poll-mcq-votes', choose(51), choose(52));
    const scene = await sceneOf(stage, ', statements: [answered]');
    loseAnswers();
    await scene.settle();
    await stage.put('poll-mcq-votes', choose(53));
    await stage.pollsAreDue();
    await scene.settle();
    lrs.faults.clear();
    await stage.retriesAreDue();
    await scene.settle();
    expect(responses()[0]).toEqual(['1051[,]1052[,]1053']);
  });

  it('receives the actions of each person, nothing about anonymous people, and the earned credit', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1, named));
    await stage.put('attendees', attendee(1), attendee(2), attendee(3, { signInTime: null }));
    await stage.put('votes', vote(11, 1, 1), vote(12, 1, 1));
    await stage.put('poll-mcq-votes', pollVote(51, by(1), 1), pollVote(52, { id: 2, anonymous: true }, 1));
    const scene = await sceneOf(stage);
    await scene.settle();
    expect(told()).toEqual([
      'code-1 answered questions/70',
      'code-1 attended pigeonholes/101',
      'code-1 completed credits/1',
      'code-1 voted-up questions/11',
      'code-1 voted-up questions/12',
      'code-2 attended pigeonholes/101',
    ]);
  });

  it('voids statements about interactions that became anonymous, and the credit that they were evidence for', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1, named));
    await stage.put('attendees', attendee(1));
    await stage.put('poll-mcq-votes', ...[51, 52, 53].map((id) => pollVote(id, by(1), 1, { question: { id } })));
    const scene = await sceneOf(stage, ', statements: [answered]');
    await scene.settle();
    expect(told()).toHaveLength(4);

    await stage.patch('poll-mcq-votes', 52, { attendee: { id: 1, anonymous: true } });
    await stage.sweepsAreDue();
    await scene.settle();
    expect(told()).toEqual(['code-1 answered questions/51', 'code-1 answered questions/53']);
  });

  it('receives statements about a person from consent until withdrawal', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1, named));
    await stage.put('attendees', attendee(1, { consent: { obtained: false } }));
    await stage.put('poll-mcq-votes', ...[51, 52, 53].map((id) => pollVote(id, by(1), 1, { question: { id } })));
    const scene = await sceneOf(stage, ', onConsentWithdrawn: forget');
    await scene.settle();
    expect(lrs.store.all).toEqual([]);

    await stage.patch('attendees', 1, { consent: { obtained: true } });
    await stage.pollsAreDue();
    await scene.settle();
    const all = [
      'code-1 answered questions/51',
      'code-1 answered questions/52',
      'code-1 answered questions/53',
      'code-1 attended pigeonholes/101',
      'code-1 completed credits/1',
    ];
    expect(told()).toEqual(all);

    await stage.patch('attendees', 1, { consent: { obtained: false } });
    await stage.pollsAreDue();
    await scene.settle();
    expect(told()).toEqual([]);

    await stage.patch('attendees', 1, { consent: { obtained: true } });
    await stage.pollsAreDue();
    await scene.settle();
    expect(told()).toEqual(all);
  });

  it('receives interactions of a person whose record was read only later', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1, named));
    await stage.put('poll-mcq-votes', pollVote(51, by(1), 1));
    const scene = await sceneOf(stage);
    await scene.settle();
    expect(told()).toEqual([]);

    await stage.put('attendees', attendee(1));
    await stage.pollsAreDue();
    await scene.settle();
    expect(told()).toEqual(['code-1 answered questions/70', 'code-1 attended pigeonholes/101']);
  });

  it('has each statement once, and none about a person who became anonymous while its answers were lost', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1, named));
    await stage.put('attendees', attendee(1));
    await stage.put('poll-mcq-votes', pollVote(51, by(1), 1), pollVote(52, by(1), 1, { question: { id: 71 } }));
    const scene = await sceneOf(stage, ', statements: [answered]');
    loseAnswers();
    await scene.settle();
    expect(told()).toHaveLength(2);

    await stage.patch('poll-mcq-votes', 51, { attendee: { id: 1, anonymous: true } });
    await stage.sweepsAreDue();
    await scene.settle();
    lrs.faults.clear();
    await stage.retriesAreDue();
    await scene.settle();
    expect(told()).toEqual(['code-1 answered questions/71']);
  });
});
