import { erasureLines, planLines } from './forget.js';

const receipt = { count: 3, detail: null, todo: null, at: '2026-11-21T09:00:00.000Z' };
const erasure = {
  id: '8b0c6f3e-5d5b-4c0f-9a76-f1c7d2b3e410',
  state: 'done' as const,
  requestedBy: null,
  reason: null,
  requestedAt: '2026-11-21T09:00:00.000Z',
  clearedAt: null,
  endedAt: null,
};

describe('the text of an erasure', () => {
  it('names each place, with manual work last', () => {
    const receipts = [
      { ...receipt, place: 'ledger', outcome: 'erased' as const },
      { ...receipt, place: 'sink:crm acme/101', outcome: 'by-hand' as const, detail: 'kept', todo: 'remove them' },
    ];
    expect(erasureLines({ ...erasure, receipts })).toEqual([
      `erasure ${erasure.id} is done`,
      'ledger: 3, erased',
      'sink:crm acme/101: 3, must be erased by hand (kept)',
      'to do by hand:',
      '  sink:crm acme/101: remove them',
    ]);
  });

  it('says how to follow an unfinished erasure', () => {
    expect(erasureLines({ ...erasure, state: 'running', receipts: [] })[0]).toContain(`erasures show ${erasure.id}`);
  });

  it('counts items in advance, without anonymous ones', () => {
    const people = [{ workspace: 'acme', pigeonholeId: 101, attendees: 1, codes: 1 }];
    expect(planLines({ people, items: { attendees: 1, votes: 2 }, importRows: 0, sinks: [], sharing: 2 })).toEqual([
      'acme/101: 1 attendee, 1 code',
      'items: 1 attendee, 2 votes (anonymous items are erased as well, but not counted)',
      'rows of imports: 0',
      'sinks that received them: none',
      'other people with the same e-mail address, who are kept: 2',
    ]);
  });
});
