import { kinds } from '../kit/scenario-kinds.js';
import { redriveDeadLetters } from '../../delivering/dead-letters.js';
import type { Outcome } from '../../sinks/sink.js';
import { attendee, pollVote, session } from '../kit/items.js';
import type { Scene } from '../kit/scene.js';
import { type Stage, useStages } from '../kit/stage.js';
import { StateSink } from '../kit/state-sink.js';

const stages = useStages();
const obtained = { obtained: true, obtainedAt: '2026-11-21T09:00:00Z' };
const refused = { obtained: false };
const vote = 'poll-mcq-votes:51';
const later: Outcome = { kind: 'retry', detail: 'not now' };
const no: Outcome = { kind: 'rejected', cause: 'crm: INVALID', detail: 'field X' };
const nobodyKnows: Outcome = { kind: 'unknown', detail: 'no answer' };

interface Play {
  readonly stage: Stage;
  readonly crm: StateSink;
  readonly scene: Scene;
  /** Changes the person's record, reads it, and delivers due changes. */
  next(change: object): Promise<void>;
  /** Does the same without delivering. */
  read(change: object): Promise<void>;
  person(): unknown;
}

/** Starts with one person who votes, and a state sink that accepts people with consent. */
async function play(kind: (typeof kinds)[number], consent: object, more = '', sink = new StateSink()): Promise<Play> {
  const stage = await stages.open(kind);
  await stage.put('sessions', session(1));
  await stage.put('attendees', attendee(1, { Name: 'Ann', consent }), attendee(2), attendee(3));
  await stage.put('poll-mcq-votes', pollVote(51, { id: 1, anonymous: false }, 1));
  const crm = `{ type: file, folder: ./crm, consent: { accept: [obtained] }${more} }`;
  const scene = await stage.scene({ sinks: { crm }, openSinks: sink.inPlaceOf('crm') });
  const read = async (change: object): Promise<void> => {
    await stage.patch('attendees', 1, { ...change });
    await stage.pollsAreDue();
    await scene.read({ workspace: 'acme', pigeonholeId: 101 });
  };
  return {
    stage,
    crm: sink,
    scene,
    read,
    async next(change) {
      await read(change);
      await scene.settle();
    },
    person: () => sink.records.get(vote)!.person,
  };
}

/** Ends waits and delivers until nothing is due. */
async function drain({ stage, scene }: Play): Promise<void> {
  for (let turn = 0; turn < 4; turn += 1) {
    await stage.retriesAreDue();
    await scene.settle();
  }
}

describe.each(kinds)('the record of a person who withdraws consent, on %s', (kind) => {
  it('is removed even if the removal fails first and the record changes in the meantime', async () => {
    const at = await play(kind, obtained, ', onConsentWithdrawn: forget');
    await at.scene.settle();
    at.crm.answer = ({ data, name }) => (name === 'attendees:1' && data === null ? later : undefined);
    await at.next({ consent: refused });
    await at.next({ Name: 'Anna' });
    at.crm.answer = () => undefined;
    await drain(at);
    expect(at.crm.records.get('attendees:1')!.data).toBeNull();
  });

  it('is removed after a redrive if the removal was refused and the record changed', async () => {
    const at = await play(kind, obtained, ', onConsentWithdrawn: forget');
    await at.scene.settle();
    at.crm.answer = ({ data, name }) => (name === 'attendees:1' && data === null ? no : undefined);
    await at.next({ consent: refused });
    at.crm.answer = () => undefined;
    await at.next({ Name: 'Anna' });
    await redriveDeadLetters(at.scene.ledger, {});
    await drain(at);
    expect(at.crm.records.get('attendees:1')!.data).toBeNull();
  });

  it('is removed if the attendee is deleted while the outcome of the removal is unknown', async () => {
    const at = await play(kind, obtained, ', onConsentWithdrawn: forget');
    await at.scene.settle();
    at.crm.answer = ({ data, name }) => (name === 'attendees:1' && data === null ? nobodyKnows : undefined);
    await at.next({ consent: refused });
    await at.stage.remove('attendees', 1);
    await at.stage.sweepsAreDue();
    await at.scene.settle();
    at.crm.answer = () => undefined;
    await drain(at);
    expect(at.crm.records.get('attendees:1')!.data).toBeNull();
  });

  it('is removed once: later changes of the person cause no further removal', async () => {
    const at = await play(kind, obtained, ', onConsentWithdrawn: forget');
    await at.scene.settle();
    await at.next({ consent: refused });
    await at.next({ Name: 'Anna' });
    await at.next({ Name: 'Anne' });
    expect(at.crm.sent.filter(({ name, data }) => name === 'attendees:1' && data === null)).toHaveLength(1);
  });

  it('is removed even if its creation still had to be looked up', async () => {
    const at = await play(kind, obtained, ', onConsentWithdrawn: forget');
    at.crm.answer = ({ name }) => (name === 'attendees:1' ? nobodyKnows : undefined);
    at.crm.lookUp = () => ({ kind: 'delivered', object: { id: 'found' } });
    await at.scene.settle();
    at.crm.answer = () => undefined;
    await at.next({ consent: refused });
    await drain(at);
    expect(at.crm.records.get('attendees:1')).toMatchObject({ data: null, object: { id: 'found' } });
  });
});

describe.each(kinds)('an interaction of a person who is no longer visible, on %s', (kind) => {
  it('loses the person if its delivery had an unknown outcome', async () => {
    const at = await play(kind, obtained);
    at.crm.answer = (operation) => {
      if (operation.name !== vote) return undefined;
      at.crm.records.set(vote, operation);
      return nobodyKnows;
    };
    at.crm.lookUp = () => ({ kind: 'delivered', object: { id: 'found' } });
    await at.scene.settle();
    expect(at.person()).toBe('Ann');
    at.crm.answer = () => undefined;
    await at.next({ consent: refused });
    await drain(at);
    expect(at.crm.records.get(vote)).toMatchObject({ person: null, object: { id: 'found' } });
  });

  it('loses the person if a later revision of it was refused', async () => {
    const at = await play(kind, obtained);
    await at.scene.settle();
    at.crm.answer = ({ name }) => (name === vote ? no : undefined);
    await at.stage.patch('poll-mcq-votes', 51, { option: 'other' });
    await at.stage.patch('attendees', 2, { Name: 'Bea' }); // is delivered, so the vote itself must be the cause of the refusal
    await at.stage.pollsAreDue();
    await at.scene.settle();
    expect(await at.stage.db.query(`select key from deliveries where state = 'dead'`)).toEqual([{ key: '51' }]);
    at.crm.answer = () => undefined;
    await at.next({ consent: refused });
    expect(at.person()).toBeNull();
  });

  it('loses the person if a later revision of it was the only refused change and is retried', async () => {
    const at = await play(kind, obtained);
    await at.scene.settle();
    at.crm.answer = ({ name }) => (name === vote ? no : undefined);
    await at.stage.patch('poll-mcq-votes', 51, { option: 'other' });
    await at.stage.pollsAreDue();
    await at.scene.settle();
    at.crm.answer = () => undefined;
    await at.next({ consent: refused });
    await drain(at);
    expect(at.person()).toBeNull();
  });

  it('loses the person at a sink that does not receive the person’s record', async () => {
    const at = await play(kind, obtained, ', lists: [poll-mcq-votes]');
    await at.scene.settle();
    await at.next({ Name: 'Ann' });
    await at.next({ consent: refused });
    expect([at.person(), at.crm.records.has('attendees:1')]).toEqual([null, false]);
    await at.next({ consent: obtained });
    expect(at.person()).toBe('Ann');
  });

  it('loses the person if consent was given and withdrawn while the interaction was being sent', async () => {
    const crm = new StateSink({ batchSize: 1 });
    const at = await play(kind, refused, '', crm);
    await at.scene.settle();
    await at.stage.patch('poll-mcq-votes', 51, { option: 'other' });
    await at.stage.pollsAreDue();
    await at.scene.read({ workspace: 'acme', pigeonholeId: 101 });
    await at.read({ consent: obtained }); // is queued behind the vote in the lane
    const send = crm.send.bind(crm);
    crm.send = async (operations) => {
      crm.send = send;
      await at.read({ consent: refused });
      return await send(operations);
    };
    await drain(at);
    expect(crm.sent.map(({ name, person }) => [name, person])).toContainEqual([vote, 'Ann']);
    expect(at.person()).toBeNull();
  });

  it('loses the person while an earlier revision of the person’s record is retried', async () => {
    const at = await play(kind, obtained);
    await at.scene.settle();
    at.crm.answer = ({ name }) => (name === 'attendees:1' ? later : undefined);
    await at.stage.patch('attendees', 2, { Name: 'Ben' }); // is delivered
    await at.next({ Name: 'Anna' });
    await at.next({ consent: refused });
    expect(at.person()).toBeNull();
  });

  it('loses the person when the person’s record is deleted', async () => {
    const at = await play(kind, obtained);
    await at.scene.settle();
    expect(at.person()).toBe('Ann');
    await at.stage.remove('attendees', 1);
    await at.stage.sweepsAreDue();
    await at.scene.settle();
    await at.stage.timePasses(31_000); // until a second answer confirms the deletion
    await at.scene.settle();
    expect(at.person()).toBeNull();
  });
});

describe.each(kinds)('an interaction of a person who becomes visible, on %s', (kind) => {
  it('shows the person after a wider configuration releases the withheld revisions of the record', async () => {
    const at = await play(kind, refused);
    await at.scene.settle();
    await at.next({ Name: 'Anna' });
    await at.next({ Name: 'Anne' });
    const crm = `{ type: file, folder: ./crm, consent: { accept: [obtained, refused] } }`;
    const wider = await at.stage.scene({ sinks: { crm }, openSinks: at.crm.inPlaceOf('crm') });
    await wider.settle();
    expect([at.crm.records.get('attendees:1')!.revision, at.person()]).toEqual([3, 'Anne']);
  });
});
