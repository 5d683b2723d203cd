import { kinds } from '../kit/scenario-kinds.js';
import { readPigeonhole } from '../../reading/read-pigeonhole.js';
import { deadLetterGroups, redriveDeadLetters } from '../../delivering/dead-letters.js';
import { attendee, pollVote, session } from '../kit/items.js';
import { useStages } from '../kit/stage.js';
import { StateSink } from '../kit/state-sink.js';

const stages = useStages();
const obtainedAlone = 'consent: { accept: [obtained] }';

describe.each(kinds)('consent, on %s', (kind) => {
  it('withholds the records of people without consent, and delivers their interactions without the person', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1));
    await stage.put(
      'attendees',
      attendee(1),
      attendee(2, { consent: { obtained: false } }),
      attendee(3, { consent: null }),
      attendee(4, { consent: undefined }),
    );
    const voted = [1, 2, 3, 4, 5].map((id) => pollVote(50 + id, { id, anonymous: false }, 1));
    await stage.put('poll-mcq-votes', ...voted);
    const scene = await stage.webhookScene(obtainedAlone);
    await scene.settle();

    expect(stage.received('attendees').map(({ key }) => key)).toEqual(['1']);
    const withheld = await stage.db.query(
      `select key, reason from deliveries where state = 'withheld' and list = 'attendees' order by key`,
    );
    expect(withheld).toEqual([
      { key: '2', reason: 'consent-refused' },
      { key: '3', reason: 'consent-not-asked' },
      { key: '4', reason: 'consent-not-known' },
    ]);
    const shown = stage.received('poll-mcq-votes').map(({ key, change }) => [key, change.data!['attendee']]);
    expect(Object.fromEntries(shown)).toEqual({
      51: { id: 1, anonymous: false },
      52: { anonymous: true },
      53: { anonymous: true },
      54: { anonymous: true },
      55: { anonymous: true }, // attendee 5 was not read
    });
  });

  it('delivers a record when consent is given, and withholds it again when consent is refused', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', attendee(2, { consent: { obtained: false } }));
    const scene = await stage.webhookScene(obtainedAlone);
    await scene.settle();
    expect(stage.received('attendees')).toEqual([]);

    await stage.patch('attendees', 2, { consent: { obtained: true, obtainedAt: '2026-11-21T09:00:00Z' } });
    await stage.pollsAreDue();
    await scene.settle();
    expect(stage.received('attendees')).toMatchObject([{ key: '2', revision: 2, type: 'attendees.updated' }]);

    await stage.patch('attendees', 2, { consent: { obtained: false }, Name: 'Another' });
    await stage.pollsAreDue();
    await scene.settle();
    expect(stage.received('attendees')).toHaveLength(1);
  });

  it('sends one withdrawal to a sink that erases, and the person again after renewed consent', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', attendee(2));
    const scene = await stage.webhookScene(`${obtainedAlone}, onConsentWithdrawn: forget`);
    await scene.settle();
    const next = async (change: object): Promise<void> => {
      await stage.patch('attendees', 2, { ...change });
      await stage.pollsAreDue();
      await scene.settle();
    };
    await next({ consent: { obtained: false }, Name: 'Another' });
    await next({ Name: 'A third' });
    await next({ consent: { obtained: true, obtainedAt: '2026-11-21T09:00:00Z' } });
    const told = stage.received('attendees');
    expect(told.map(({ revision, type }) => [revision, type])).toEqual([
      [1, 'attendees.created'],
      [2, 'attendees.deleted'],
      [4, 'attendees.updated'],
    ]);
    expect(told[1]!.change.data).toBeNull();
  });

  it('holds withdrawals above a share and a number until an operator confirms them', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', ...[1, 2, 3, 4, 5, 6].map((id) => attendee(id)));
    const scene = await stage.webhookScene(`${obtainedAlone}, onConsentWithdrawn: forget`, {
      sync: 'deletions: { holdAbove: { share: 10%, items: 2 } }',
    });
    await scene.settle();
    for (const id of [1, 2, 3, 4, 5]) await stage.patch('attendees', id, { consent: { obtained: false } });
    await stage.pollsAreDue();
    await scene.settle();
    const removed = (): number => stage.received('attendees').filter(({ change }) => change.data === null).length;
    expect(removed()).toBe(2);
    expect(await deadLetterGroups(scene.ledger, {})).toMatchObject([{ cause: 'withdrawals-held', changes: 3 }]);

    await redriveDeadLetters(scene.ledger, { sink: 'hooks', cause: 'withdrawals-held' });
    await scene.settle();
    expect(removed()).toBe(5);
  });

  it("updates a person's interactions in a state sink when consent is given or withdrawn", async () => {
    const stage = await stages.open(kind);
    const crm = new StateSink();
    await stage.put('sessions', session(1));
    await stage.put('attendees', attendee(1, { Name: 'Ann', consent: { obtained: false } }));
    await stage.put('poll-mcq-votes', pollVote(51, { id: 1, anonymous: false }, 1));
    const scene = await stage.webhookScene(obtainedAlone, { openSinks: crm.inPlaceOf('hooks') });
    await scene.settle();
    const shown = (): unknown => crm.records.get('poll-mcq-votes:51')!.person;
    expect(shown()).toBeNull();
    const sentBefore = crm.sent.length;

    await stage.patch('attendees', 1, { consent: { obtained: true, obtainedAt: '2026-11-21T09:00:00Z' } });
    await stage.pollsAreDue();
    await scene.settle();
    expect(shown()).toBe('Ann');
    expect(crm.sent.slice(sentBefore).map(({ name }) => name)).toEqual(['attendees:1', 'poll-mcq-votes:51']);

    await stage.patch('attendees', 1, { consent: { obtained: false } });
    await stage.pollsAreDue();
    await scene.settle();
    expect(shown()).toBeNull();
  });

  it('wakes a state sink without attendees, and no log sink, when an attendee withdraws consent', async () => {
    const stage = await stages.open(kind);
    const crm = new StateSink();
    await stage.put('sessions', session(1));
    await stage.put('attendees', attendee(1, { Name: 'Ann' }));
    await stage.put('poll-mcq-votes', pollVote(51, { id: 1, anonymous: false }, 1));
    const votes = `{ type: file, folder: ./votes, lists: [poll-mcq-votes], ${obtainedAlone} }`;
    const scene = await stage.scene({
      sinks: { crm: votes, log: votes.replace('./votes', './log') },
      openSinks: crm.inPlaceOf('crm'),
    });
    await scene.settle();
    const shown = (): unknown => crm.records.get('poll-mcq-votes:51')!.person;
    expect(shown()).toBe('Ann');

    await stage.patch('attendees', 1, { consent: { obtained: false } });
    await stage.pollsAreDue();
    const woken = new Set<string>();
    const wakeSinks = async (names: readonly string[]): Promise<void> => names.forEach((name) => woken.add(name));
    const deps = { ...scene.deps, orchestration: { ...scene.deps.orchestration, wakeSinks } };
    await readPigeonhole(deps, { workspace: 'acme', pigeonholeId: 101 }, new AbortController().signal);
    expect([...woken]).toEqual(['crm']);
    expect(await scene.deliver('crm')).toMatchObject({ nextDueInMs: 0 }); // due changes are sent in the next cycle
    await scene.deliver('crm');
    expect(shown()).toBeNull();
  });

  it('applies the current consent even if that field is dropped from the stored items', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1));
    await stage.put('attendees', attendee(1));
    const scene = await stage.webhookScene(obtainedAlone, { sync: 'drop: { attendees: [consent] }' });
    await scene.settle();
    expect(stage.received('attendees')).toHaveLength(1);

    await stage.patch('attendees', 1, { consent: { obtained: false } });
    await stage.put('poll-mcq-votes', pollVote(51, { id: 1, anonymous: false }, 1));
    await stage.pollsAreDue();
    await scene.settle();
    expect(stage.received('attendees')).toHaveLength(1); // consent is no content here, so there is no revision
    expect(stage.received('poll-mcq-votes')[0]!.change.data).toMatchObject({ attendee: { anonymous: true } });
  });

  it('identifies nobody before their own record was read, even for a sink that excludes only refusals', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1));
    await stage.put('poll-mcq-votes', pollVote(51, { id: 770077007, anonymous: false }, 1)); // attendee 770077007 is in no list
    const allButRefused = 'consent: { accept: [obtained, not-asked, not-known] }';
    const scene = await stage.webhookScene(allButRefused);
    await scene.settle();
    expect(stage.received('poll-mcq-votes')[0]!.change.data).toMatchObject({ attendee: { anonymous: true } });
    expect(JSON.stringify(stage.received('poll-mcq-votes'))).not.toContain('770077007');
  });

  it('releases withheld records when a later configuration lets the sink accept them', async () => {
    const stage = await stages.open(kind);
    await stage.put(
      'attendees',
      attendee(1),
      attendee(2, { consent: { obtained: false } }),
      attendee(3, { consent: null }),
    );
    const strict = await stage.webhookScene(obtainedAlone);
    await strict.settle();
    expect(stage.received('attendees').map(({ key }) => key)).toEqual(['1']);

    const wider = await stage.webhookScene('consent: { accept: [obtained, not-asked] }');
    await wider.settle();
    expect(stage.received('attendees').map(({ key }) => key)).toEqual(['1', '3']);
    const withheld = await stage.db.query(`select key, reason from deliveries where state = 'withheld'`);
    expect(withheld).toEqual([{ key: '2', reason: 'consent-refused' }]);
  });
});

describe('consent at a first read', () => {
  it('is read before the first interaction is sent, even if the list of attendees is long', async () => {
    const stage = await stages.open(kinds.at(-1)!);
    await stage.put('sessions', session(1));
    await stage.control('PATCH', 'knobs', { maxPerPage: 1 });
    await stage.put('attendees', ...Array.from({ length: 60 }, (_, index) => attendee(index + 1)));
    await stage.put('poll-mcq-votes', pollVote(51, { id: 60, anonymous: false }, 1));
    await stage.fault({ kind: 'delay', list: 'attendees', ms: 50 }); // sixty pages take longer than a slice may
    const scene = await stage.webhookScene(obtainedAlone);
    await scene.discover();
    await scene.read({ workspace: 'acme', pigeonholeId: 101 });
    await scene.deliver('hooks');
    await scene.settle();
    expect(stage.received('poll-mcq-votes')).toMatchObject([{ change: { data: { attendee: { id: 60 } } } }]);
  });
});
