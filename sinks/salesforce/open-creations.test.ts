import { field } from '../../sandbox/salesforce/sobject-type.js';
import { salesforceFaults } from '../../sandbox/salesforce/start-salesforce-double.js';
import type { FaultEffect } from '../../sandbox/serve/faults.js';
import { subjectOf } from '../plan-of.test-kit.js';
import { sampleChange } from '../sample-change.test-kit.js';
import type { Fields, Lane, Outcome, Subject } from '../sink.js';
import { TestOrg } from './org.test-kit.js';
import { deliver, laneOf, pigeonhole } from './sample.test-kit.js';

let org: TestOrg;
let lane: Lane;
let nowMs: number;
beforeEach(async () => {
  nowMs = Date.parse('2026-11-21T10:00:00Z');
  lane = laneOf();
  org = await TestOrg.open({ fields: { Task: [field('Engagement_Key__c')] }, now: () => nowMs });
  org.add('Contact', { Email: 'ada@example.com', LastName: 'L.' });
});
afterEach(() => org.close());

const task = {
  from: 'qna-questions',
  object: 'Task',
  externalId: { Engagement_Key__c: '"question-" & $string(item.id)' },
  email: 'attendee.Email',
  properties: { Subject: '"Question"', Description: 'item.content' },
};

/** Returns a sink of a process that has just started. */
const newSink = (records: readonly object[] = [task]) => org.sink({}, { records }, { now: () => nowMs });

function question(data: Fields = {}): Subject {
  const item = { id: 9001, content: 'Why?', ...data };
  const change = sampleChange({ id: `q-${item.id}`, list: 'qna-questions', key: String(item.id), data: item });
  return subjectOf(change, { attendee: { id: 7, Email: 'ada@example.com' }, pigeonhole });
}

/** Makes the next creation end with this effect. */
const befall = (effect: FaultEffect): void =>
  org.double.faults.add({ method: 'POST', path: '/composite/sobjects', effect });
const creations = () => org.writes('Task').filter(({ method }) => method === 'POST');
const send = async (sink: ReturnType<typeof newSink>, data?: Fields): Promise<Outcome> =>
  (await deliver(sink, [question(data)], lane))[0]!;

describe('a task without External ID flag, whose creation got no answer', () => {
  it('is not created again while Salesforce may still carry out the first creation', async () => {
    befall({ kind: 'dropBefore' });
    const sink = newSink();
    expect(await send(sink)).toMatchObject({ kind: 'retry' });
    nowMs += 9 * 60_000;
    // A later revision of the question does not wait for the retry.
    expect(await send(sink, { content: 'Well?' })).toMatchObject({ kind: 'unsent', afterMs: 3 * 60_000 });
    expect(creations()).toHaveLength(1);
    // Salesforce carries out the first creation, 9 minutes after the connection was lost.
    const { attributes: _, ...sent } = JSON.parse(creations()[0]!.body).records[0];
    org.add('Task', sent);
    expect(await send(sink, { content: 'Well?' })).toMatchObject({ kind: 'delivered' });
    expect(org.all('Task')).toEqual([expect.objectContaining({ Description: 'Well?' })]);
    expect(lane.memory).toEqual({ 'open creations': {} });
  });

  it('is found and updated without a wait if the creation has happened', async () => {
    befall({ kind: 'dropAfter' });
    const sink = newSink();
    expect(await send(sink)).toMatchObject({ kind: 'retry' });
    expect(await send(sink, { content: 'Well?' })).toMatchObject({ kind: 'delivered' });
    expect(org.all('Task')).toEqual([expect.objectContaining({ Description: 'Well?' })]);
  });

  it('is created after 12 minutes if the first creation has not happened', async () => {
    befall(salesforceFaults['badGateway']!);
    await send(newSink());
    nowMs += 12 * 60_000;
    expect(await send(newSink())).toMatchObject({ kind: 'delivered' });
    expect(org.all('Task')).toHaveLength(1);
  });

  it('is not created by another process if the first one died during the call', async () => {
    const dying = newSink();
    befall({ kind: 'dropBefore' });
    // The copy of the lane loses the memory that the outcome contains, but not what the sink stored before the call.
    await deliver(dying, [question()], { ...lane, memory: {} });
    // Without a detail, which would end the lane's failing state although Salesforce has accepted nothing.
    expect(await send(newSink())).toEqual({ kind: 'unsent', afterMs: 12 * 60_000 });
    expect(creations()).toHaveLength(1);
  });

  it('is created again without a wait if Salesforce itself refused the call', async () => {
    befall(salesforceFaults['unavailable']!);
    const sink = newSink();
    expect(await send(sink)).toMatchObject({ kind: 'retry' });
    expect(await send(sink)).toMatchObject({ kind: 'delivered' });
    expect(org.all('Task')).toHaveLength(1);
  });

  it('is forgotten after 12 minutes, with the digest of its key', async () => {
    befall({ kind: 'dropBefore' });
    await send(newSink());
    nowMs += 12 * 60_000;
    const { attributes: _, ...sent } = JSON.parse(creations()[0]!.body).records[0];
    org.add('Task', { ...sent, Engagement_Key__c: 'question-9002' });
    await send(newSink(), { id: 9002 }); // finds its task, so it begins no creation
    expect(lane.memory).toEqual({ 'open creations': {} });
  });

  it('waits at most 12 minutes if the clock was set back', async () => {
    befall({ kind: 'dropBefore' });
    await send(newSink());
    nowMs -= 24 * 60 * 60_000;
    expect(await send(newSink())).toEqual({ kind: 'unsent', afterMs: 12 * 60_000 });
    nowMs += 12 * 60_000;
    expect(await send(newSink())).toMatchObject({ kind: 'delivered' });
  });

  it('delays no other task', async () => {
    befall({ kind: 'dropBefore' });
    const sink = newSink();
    await send(sink);
    const outcomes = await deliver(sink, [question(), question({ id: 9002 })], lane);
    expect(outcomes.map(({ kind }) => kind)).toEqual(['unsent', 'delivered']);
  });

  it('waits while another record of the same change is written and kept', async () => {
    const second = { ...task, externalId: { Engagement_Key__c: '"second-" & $string(item.id)' } };
    org.double.faults.add({
      method: 'POST',
      path: '/composite/sobjects',
      bodyHas: 'second-9001',
      effect: { kind: 'dropBefore' },
    });
    const sink = newSink([task, second]);
    await send(sink);
    const outcome = await send(sink);
    expect(outcome).toMatchObject({ kind: 'unsent', object: { Task: { id: org.record('Task').id } } });
    expect(org.all('Task')).toHaveLength(1);
  });
});
