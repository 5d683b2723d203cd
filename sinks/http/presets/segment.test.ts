import { type SegmentDouble, startSegmentDouble } from '../../../sandbox/segment/start-segment-double.js';
import { sampleChange } from '../../sample-change.test-kit.js';
import { subjectOf } from '../../plan-of.test-kit.js';
import { GuideSink, kinds, question } from '../guide.test-kit.js';

let segment: SegmentDouble;
let analytics: GuideSink;

beforeEach(async () => {
  segment = await startSegmentDouble();
  analytics = await GuideSink.open({
    page: 'segment',
    replace: { 'preset: segment': `preset: segment\n    baseUrl: ${segment.url}/v1` },
    variables: { SEGMENT_WRITE_KEY: segment.writeKey },
  });
});
afterEach(async () => {
  await analytics.close();
  await segment.close();
});

const attendee = (signInTime: string | null) =>
  subjectOf(sampleChange({ id: 'c-1', list: 'attendees', key: '4711', data: { attendeeCode: '00123', signInTime } }), {
    pigeonhole: { name: 'Summit' },
  });

describe('docs/sinks/http/segment.md', () => {
  it('sends attendance and questions in one request each, next to other events', async () => {
    const people = [attendee('2026-11-21T09:00:00Z'), question('1', 'Lunch?'), question('2', 'And dinner?')];
    expect(kinds(await analytics.deliver(people))).toEqual(['delivered', 'delivered', 'delivered']);
    expect(segment.events.slice(1).toSorted((one, other) => (one.messageId < other.messageId ? -1 : 1))).toEqual([
      {
        type: 'track',
        messageId: 'c-1',
        userId: '00123',
        event: 'Event Attended',
        timestamp: '2026-11-21T09:00:00Z',
        properties: { event: 'Summit' },
      },
      ...['1', '2'].map((key) => ({
        type: 'track',
        messageId: `change-${key}`,
        userId: '00123',
        event: 'Question Asked',
        timestamp: '2026-11-21T09:30:00.000Z',
        properties: { event: 'Summit', session: 'Keynote' },
      })),
    ]);
    expect([segment.requests.length, segment.dropped]).toEqual([2, []]);
  });

  it('sends an event once, even after a lost response, and none of anonymous people', async () => {
    segment.faults.add({ effect: { kind: 'dropAfter' } });
    expect(kinds(await analytics.deliver([question('1', 'Lunch?')]))).toEqual(['retry']);
    expect(kinds(await analytics.deliver([question('1', 'Lunch?')]))).toEqual(['delivered']);
    expect(
      await analytics.deliver([
        question('1', 'Lunch?', {}, 'answered'),
        question('2', 'Who?', { attendee: null }),
        attendee(null),
      ]),
    ).toEqual([
      { kind: 'nothing', reason: 'not-updated' },
      { kind: 'nothing', reason: 'no-value' },
      { kind: 'nothing', reason: 'condition' },
    ]);
    expect(segment.events).toHaveLength(2);
  });

  it('rejects an event that is too large, and sends the other events of the request', async () => {
    const large = question('1', 'Lunch?', { session: { name: 'x'.repeat(40_000) } });
    expect(await analytics.deliver([large, question('2', 'And dinner?')])).toMatchObject([
      { kind: 'rejected', cause: 'http:400' },
      { kind: 'delivered' },
    ]);
  });

  it('never shows the write key', async () => {
    const planned = await analytics.plan([question('1', 'Lunch?')]);
    const lines = await analytics.check();
    expect(JSON.stringify([planned, lines])).not.toContain(segment.writeKey);
    expect(lines.filter(({ text }) => text.includes('sent again'))).toEqual([]); // its messageId is the id of the change
  });
});
