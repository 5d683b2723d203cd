import { SinkBreaker } from './sink-breaker.js';

const healthy = { failingForMs: 0, retryInMs: 0 };
const down = { failingForMs: 60_000, retryInMs: -1 };

describe('the breaker of a sink', () => {
  it('lets four lanes send full batches while some batches succeed', () => {
    const breaker = new SinkBreaker(healthy, 100);
    breaker.failed(1000, false);
    breaker.passed();
    breaker.failed(1000, false);
    breaker.failed(1000, false);
    expect([breaker.isOpen, breaker.lanesAtOnce, breaker.batchSize, breaker.verdict]).toEqual([
      false,
      4,
      100,
      undefined,
    ]);
  });

  it('is opened by two failing lanes, but not by one', () => {
    const breaker = new SinkBreaker(healthy, 100);
    breaker.failed(1000, false);
    expect([breaker.isOpen, breaker.verdict]).toEqual([false, undefined]);
    breaker.failed(3000, false);
    expect([breaker.isOpen, breaker.verdict]).toEqual([true, 3000]);
  });

  it('is not opened by any number of lanes that failed before while others succeeded', () => {
    const breaker = new SinkBreaker(healthy, 100);
    for (let lane = 0; lane < 3; lane += 1) breaker.failed(1000, true);
    expect([breaker.isOpen, breaker.verdict]).toEqual([false, undefined]);
  });

  it('waits for half the duration of the sink’s failure, even if the lane that tried it has just started to fail', () => {
    const breaker = new SinkBreaker({ ...down, failingForMs: 240_000 }, 100);
    breaker.failed(1000, false);
    expect(breaker.verdict).toEqual(120_000);
  });

  it('stays open until its time has passed', () => {
    expect(new SinkBreaker({ ...down, retryInMs: 500 }, 100).isOpen).toBe(true);
    expect(new SinkBreaker(down, 100).isOpen).toBe(false);
  });

  it('lets one lane try one change, and opens again immediately if that fails', () => {
    const breaker = new SinkBreaker(down, 100);
    expect([breaker.lanesAtOnce, breaker.batchSize]).toEqual([1, 1]);
    breaker.failed(30_000, false);
    expect(breaker.verdict).toEqual(30_000);
  });

  it('doubles the batches of the cycle in which the sink works again', () => {
    const breaker = new SinkBreaker(down, 10);
    const sizes: number[] = [];
    for (let batch = 0; batch < 5; batch += 1) {
      sizes.push(breaker.batchSize);
      breaker.passed();
    }
    expect(sizes).toEqual([1, 2, 4, 8, 10]);
    expect([breaker.isRamping, breaker.lanesAtOnce, breaker.verdict]).toEqual([false, 1, null]);
    breaker.failed(1000, false); // a lane that fails while others pass
    expect([breaker.isOpen, breaker.verdict]).toEqual([false, null]);
  });
});
