import { Alarm } from './alarm.js';

describe('an alarm', () => {
  it('ends the wait in progress, and only that one', async () => {
    const alarm = new Alarm();
    const waiting = alarm.wait(Number.POSITIVE_INFINITY);
    alarm.ring();
    alarm.ring();
    await waiting;
    const next = alarm.wait(Number.POSITIVE_INFINITY);
    expect(await Promise.race([next.then(() => 'ended'), Promise.resolve('waits')])).toBe('waits');
    alarm.ring();
    await next;
  });

  it('ends the next wait if it rings while nobody waits', async () => {
    const alarm = new Alarm();
    alarm.ring();
    await alarm.wait(Number.POSITIVE_INFINITY);
  });

  it('ends a wait after its time', async () => {
    await new Alarm().wait(1);
    await new Alarm().wait(0);
  });
});
