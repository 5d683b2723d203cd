import { TurnTroubles } from './turn-troubles.js';

const full = 'no space is left on the disk of the store';

describe('the trouble of turns', () => {
  it('stays while one turn fails, whatever others do, and goes when that one goes well', () => {
    const troubles = new TurnTroubles(() => 0);
    expect(troubles.present).toBeNull();
    troubles.note('read acme/101', full);
    troubles.note('deliver hooks', null);
    expect(troubles.present).toBe(full);
    troubles.note('read acme/101', null);
    expect(troubles.present).toBeNull();
  });

  it('is the latest of several', () => {
    const troubles = new TurnTroubles(() => 0);
    troubles.note('read acme/101', full);
    troubles.note('deliver hooks', 'another');
    expect(troubles.present).toBe('another');
    troubles.note('read acme/101', full);
    expect(troubles.present).toBe(full);
  });

  it('of a turn that is not taken any more is forgotten after five minutes', () => {
    let nowMs = 0;
    const troubles = new TurnTroubles(() => nowMs);
    troubles.note('read acme/101', full);
    nowMs = 5 * 60_000;
    expect(troubles.present).toBe(full);
    nowMs += 1;
    expect(troubles.present).toBeNull();
  });
});
