import { kinds } from '../kit/scenario-kinds.js';
import { deadLetterGroups, redriveDeadLetters } from '../../delivering/dead-letters.js';
import { resume } from '../../ledger/pauses.js';
import type { Outcome } from '../../sinks/sink.js';
import { attendee, pollVote, session } from '../kit/items.js';
import type { Scene } from '../kit/scene.js';
import { everyone, type Stage, useStages } from '../kit/stage.js';
import { StateSink } from '../kit/state-sink.js';

const stages = useStages();
const people = (count: number) => Array.from({ length: count }, (_, index) => attendee(index + 1));
const states = `select key, revision, state, reason from deliveries where list = 'attendees' order by sequence`;
const crm = `{ type: file, folder: ./crm, lists: [sessions, attendees, poll-mcq-votes], ${everyone} }`;

async function sceneWith(stage: Stage, sink: StateSink): Promise<Scene> {
  return await stage.scene({ sinks: { crm }, openSinks: sink.inPlaceOf('crm') });
}

describe.each(kinds)('a state sink, which has one record per item, on %s', (kind) => {
  it('receives its own object of the item with the person, the session and the pigeonhole', async () => {
    const stage = await stages.open(kind);
    const sink = new StateSink();
    const around: unknown[] = [];
    sink.planned = ({ change, session: held, pigeonhole, previous }) => {
      if (change.list === 'poll-mcq-votes') around.push([held?.['id'], pigeonhole?.['id'], previous]);
      return undefined;
    };
    await stage.put('attendees', attendee(1, { Name: 'Ann' }));
    await stage.put('sessions', session(5001, { anonymousResponses: false }));
    await stage.put('poll-mcq-votes', pollVote(7, { id: 1, anonymous: false }, 5001));
    const scene = await sceneWith(stage, sink);
    await scene.settle();
    expect(sink.records.get('attendees:1')!.object).toBeNull();
    expect(sink.records.get('poll-mcq-votes:7')!.person).toBe('Ann');
    expect(around).toEqual([[5001, 101, null]]);

    await stage.patch('attendees', 1, { Name: 'Anna' });
    await stage.pollsAreDue();
    await scene.settle();
    expect(sink.records.get('attendees:1')).toMatchObject({ revision: 2, object: { id: 'remote-attendees:1' } });
  });

  it('looks up an item with an unknown outcome before it is sent again, while others continue', async () => {
    const stage = await stages.open(kind);
    const sink = new StateSink();
    let isLost = true;
    sink.answer = ({ name }) =>
      name === 'attendees:2' && isLost ? { kind: 'unknown', detail: 'no answer' } : undefined;
    await stage.put('attendees', ...people(3));
    const scene = await sceneWith(stage, sink);
    await scene.settle();
    await stage.patch('attendees', 1, { Name: 'Other' });
    await stage.patch('attendees', 2, { Name: 'Other' });
    await stage.pollsAreDue();
    await scene.settle();
    expect(sink.records.get('attendees:1')!.revision).toBe(2);
    expect(sink.lookedUp).toEqual([]); // less than a minute has passed
    expect(sink.sent.filter(({ name }) => name === 'attendees:2')).toHaveLength(1);

    isLost = false;
    sink.lookUp = () => ({ kind: 'delivered', object: { id: 'found' } });
    await stage.retriesAreDue();
    await scene.settle();
    expect(sink.lookedUp.map(({ name, revision }) => [name, revision])).toEqual([['attendees:2', 1]]);
    expect(sink.records.get('attendees:2')).toMatchObject({ revision: 2, object: { id: 'found' } });
  });

  it('never receives an older change of an item after a newer one, even if that kind of record was held back', async () => {
    const stage = await stages.open(kind);
    const sink = new StateSink();
    const held: Outcome = { kind: 'unsent', afterMs: 600_000, detail: 'the key lacks a scope' };
    sink.answer = ({ name }) => (name === 'attendees:1' ? held : undefined);
    await stage.put('attendees', ...people(2));
    const scene = await sceneWith(stage, sink);
    await scene.settle();
    await stage.patch('attendees', 1, { Name: 'Newer' });
    await stage.pollsAreDue();
    await scene.settle();
    sink.answer = () => undefined;
    await stage.retriesAreDue();
    await scene.settle();
    const revisions = sink.sent.filter(({ name }) => name === 'attendees:1').map(({ revision }) => revision);
    expect(revisions).toEqual(revisions.toSorted((one, other) => one - other));
    expect(sink.records.get('attendees:1')!.revision).toBe(2);
    expect(await stage.db.query(states)).toMatchObject([
      { key: '1', revision: 1, state: 'superseded' },
      { key: '2', state: 'delivered' },
      { key: '1', revision: 2, state: 'delivered' },
    ]);
  });

  it('receives a change again if it certainly did not arrive; if a look-up cannot tell, an operator must decide', async () => {
    const stage = await stages.open(kind);
    const sink = new StateSink();
    sink.answer = () => ({ kind: 'unknown', detail: 'no answer' });
    sink.lookUp = ({ name }) =>
      name === 'attendees:1' ? { kind: 'unsent' } : { kind: 'unknown', detail: 'cannot look' };
    await stage.put('attendees', ...people(2));
    const scene = await sceneWith(stage, sink);
    await scene.settle();
    sink.answer = () => undefined;
    for (let look = 0; look < 25; look += 1) {
      await stage.retriesAreDue();
      await scene.deliver('crm');
    }
    expect(sink.records.get('attendees:1')!.revision).toBe(1);
    expect(await stage.db.query(states)).toContainEqual({
      key: '2',
      revision: 1,
      state: 'dead',
      reason: 'outcome-unknown',
    });
    expect(sink.sent.filter(({ name }) => name === 'attendees:2')).toHaveLength(1);
  });

  it.each<Outcome>([
    { kind: 'retry', detail: 'too many look-ups' },
    { kind: 'pause', cause: 'credential', detail: 'refused' },
  ])(
    'is asked again about an unknown outcome, without a repeat of the change, if the look-up returned $kind',
    async (unclear) => {
      const stage = await stages.open(kind);
      const sink = new StateSink();
      sink.answer = () => ({ kind: 'unknown', detail: 'no answer' });
      sink.lookUp = () => unclear;
      await stage.put('attendees', attendee(1));
      const scene = await sceneWith(stage, sink);
      await scene.settle();
      for (let look = 0; look < 3; look += 1) {
        await stage.retriesAreDue();
        await scene.deliver('crm');
        await resume(scene.ledger, 'sink', 'crm', 'cause');
      }
      sink.answer = () => undefined;
      sink.lookUp = () => ({ kind: 'delivered', object: { id: 'found' } });
      await stage.retriesAreDue();
      await scene.deliver('crm');
      expect([sink.sent.length, sink.lookedUp.length]).toEqual([1, 4]);
      expect(await stage.db.query(states)).toEqual([{ key: '1', revision: 1, state: 'delivered', reason: null }]);
    },
  );

  it('parks no change with an unknown outcome during an outage', async () => {
    const stage = await stages.open(kind);
    const sink = new StateSink();
    sink.answer = ({ name }) =>
      name === 'attendees:1' ? { kind: 'unknown', detail: 'no answer' } : { kind: 'retry', detail: 'down' };
    sink.lookUp = () => ({ kind: 'unknown', detail: 'down' });
    await stage.put('attendees', ...people(2));
    const scene = await sceneWith(stage, sink);
    await scene.settle();
    for (let look = 0; look < 25; look += 1) {
      await stage.retriesAreDue();
      await scene.deliver('crm');
    }
    expect(await stage.db.query(states)).toMatchObject([{ state: 'sending' }, { state: 'retry' }]);
  });

  it('receives no change that its condition excludes or its mapping cannot convert', async () => {
    const stage = await stages.open(kind);
    const sink = new StateSink();
    sink.planned = ({ change }) => {
      if (change.key === '1') return { kind: 'nothing', reason: 'condition' };
      if (change.key === '2') return { kind: 'unplannable', cause: 'mapping: crm: T0410', detail: 'crm failed' };
      return undefined;
    };
    await stage.put('attendees', ...people(3));
    const scene = await sceneWith(stage, sink);
    await scene.settle();
    expect(sink.sent.map(({ name }) => name)).toEqual(['attendees:3']);
    expect(await stage.db.query(states)).toEqual([
      { key: '1', revision: 1, state: 'withheld', reason: 'condition' },
      { key: '2', revision: 1, state: 'dead', reason: 'mapping: crm: T0410' },
      { key: '3', revision: 1, state: 'delivered', reason: null },
    ]);
  });

  it('drains its dead letters by cause after the fix, and keeps the newer of two revisions', async () => {
    const stage = await stages.open(kind);
    const sink = new StateSink();
    sink.answer = ({ name }) =>
      name === 'attendees:3' ? undefined : { kind: 'rejected', cause: 'crm: INVALID', detail: 'field Email' };
    await stage.put('attendees', ...people(3));
    const scene = await sceneWith(stage, sink);
    await scene.settle();
    expect(await deadLetterGroups(scene.ledger, {})).toMatchObject([
      { sink: 'crm', cause: 'crm: INVALID', list: 'attendees', changes: 2, detail: 'field Email' },
    ]);
    // Nothing else passes meanwhile, and the answer of the destination is the new one.
    sink.answer = () => ({ kind: 'rejected', cause: 'crm: INVALID', detail: 'field Name' });
    await redriveDeadLetters(scene.ledger, { sink: 'crm' });
    await scene.deliver('crm');
    expect(await deadLetterGroups(scene.ledger, {})).toMatchObject([{ changes: 2, detail: 'field Name' }]);
    expect(await stage.db.query('select 1 as one from deliveries where redriven is not null')).toEqual([]);
    sink.answer = () => undefined;
    await stage.patch('attendees', 1, { Name: 'Other' });
    await stage.pollsAreDue();
    await scene.settle();
    expect(await stage.db.query(states)).toContainEqual({
      key: '1',
      revision: 1,
      state: 'superseded',
      reason: null,
    });

    expect(await redriveDeadLetters(scene.ledger, { sink: 'crm', cause: 'other' })).toMatchObject({ changes: 0 });
    expect(await redriveDeadLetters(scene.ledger, { sink: 'crm', cause: 'crm: INVALID' })).toMatchObject({
      changes: 1,
    });
    await scene.settle();
    expect(Object.fromEntries([...sink.records].map(([name, { revision }]) => [name, revision]))).toEqual({
      'attendees:1': 2,
      'attendees:2': 1,
      'attendees:3': 1,
    });
    expect(await deadLetterGroups(scene.ledger, {})).toEqual([]);
  });
});
