import { repeat, repeatToTheEnd } from './repeat.js';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

describe('work that is repeated', () => {
  it('skips ticks while the last one is still running, without a burst afterwards', async () => {
    let began = 0;
    let finish = (): void => undefined;
    const work = (): Promise<void> => {
      began += 1;
      return new Promise((resolve) => (finish = resolve));
    };
    const stop = repeat(500, work, 'the work failed', { warn: () => undefined });
    await jest.advanceTimersByTimeAsync(5000);
    expect(began).toBe(1);
    finish();
    await jest.advanceTimersByTimeAsync(400);
    expect(began).toBe(1);
    await jest.advanceTimersByTimeAsync(100);
    expect(began).toBe(2);
    finish();
    await stop();
  });

  it('continues after a failure, which is logged, and waits for the running tick when it is stopped', async () => {
    const warned: unknown[] = [];
    let isDone = false;
    let began = 0;
    const stop = repeat(
      500,
      async () => {
        began += 1;
        if (began === 1) throw new Error('no connection');
        await new Promise((resolve) => setTimeout(resolve, 100));
        isDone = true;
      },
      'the work failed',
      { warn: (facts: unknown, text?: string) => void warned.push([facts, text]) },
    );
    await jest.advanceTimersByTimeAsync(1000);
    const stopped = stop();
    await jest.advanceTimersByTimeAsync(100);
    await stopped;
    await jest.advanceTimersByTimeAsync(5000);
    expect([began, isDone, warned]).toEqual([2, true, [[{ error: 'no connection' }, 'the work failed']]]);
  });

  it('runs one last time when `repeatToTheEnd` is stopped, and a failure does not prevent the stop', async () => {
    const warned: unknown[] = [];
    let began = 0;
    const work = async (): Promise<void> => {
      began += 1;
      if (began === 2) throw new Error('no connection');
    };
    const stop = repeatToTheEnd(500, work, 'the work failed', { warn: (facts: unknown) => void warned.push(facts) });
    await jest.advanceTimersByTimeAsync(500);
    await stop();
    expect([began, warned]).toEqual([2, [{ error: 'no connection' }]]);
  });
});
