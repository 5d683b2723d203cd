import type { ErasingLane } from '../people/erasures.js';
import { judgeErasingLane } from './forget-attendee.js';

const lane = (more: Partial<ErasingLane>): ErasingLane => ({
  sinkId: 1,
  sink: 'crm',
  type: 'hubspot',
  archived: false,
  pigeonholeNumber: 1,
  workspace: 'acme',
  pigeonholeId: 101,
  items: 4,
  delivered: 4,
  withheld: 0,
  dead: 0,
  open: 0,
  skipped: 0,
  reasons: [],
  details: [],
  ...more,
});

const ready = { served: true, stopped: null, forwards: false };

describe('the receipt of an erasure for a sink', () => {
  it.each<[string, Partial<ErasingLane>, string]>([
    ['that removed everything', {}, 'erased'],
    ['with an open removal', { open: 1 }, 'waiting'],
    ['that never received anything', { delivered: 0, withheld: 4, reasons: ['never-sent'] }, 'nothing'],
    ['that had already removed everything', { delivered: 0, withheld: 4, reasons: ['consent-withdrawn'] }, 'nothing'],
    ['that cannot remove some items', { withheld: 1, reasons: ['not-editable'] }, 'by-hand'],
    ['whose data has to be removed by hand', { delivered: 0, withheld: 4, reasons: ['forget-by-hand'] }, 'by-hand'],
    ['that refused a removal', { dead: 1, reasons: ['hubspot:archive:FORBIDDEN'] }, 'by-hand'],
    ['that no longer receives the list', { skipped: 2, delivered: 2 }, 'by-hand'],
    ['that is no longer configured', { archived: true, open: 4 }, 'by-hand'],
  ])('%s', (_, facts, outcome) => {
    expect(judgeErasingLane(lane(facts), ready).outcome).toBe(outcome);
  });

  it('that forwards changes says that the receiver was notified', () => {
    expect(judgeErasingLane(lane({}), { ...ready, forwards: true }).outcome).toBe('told');
  });

  it.each([
    ['not-editable', 'remove the person there by hand; delete the message in Slack'],
    ['kept', 'remove the person there by hand'],
  ])('that skipped a removal says what the sink declares: %s', (reason, todo) => {
    expect(judgeErasingLane(lane({ withheld: 1, reasons: [reason] }), ready)).toMatchObject({ detail: reason, todo });
  });

  it('that no longer receives the pigeonhole says to remove the person by hand', () => {
    expect(judgeErasingLane(lane({ open: 4 }), { ...ready, served: false })).toMatchObject({
      outcome: 'by-hand',
      todo: expect.stringContaining('by hand') as string,
    });
  });

  it('that is paused waits, and says what to do', () => {
    const stopped = 'sink crm is paused: resume it to have the person removed';
    expect(judgeErasingLane(lane({ open: 4 }), { ...ready, stopped })).toMatchObject({
      outcome: 'waiting',
      todo: stopped,
    });
  });
});
