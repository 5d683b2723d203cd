import { createDeferred } from '../base/deferred.js';
import { Places } from './places.js';

describe('places for expensive work', () => {
  it('are limited: a further request waits, and takes the place of one that has ended', async () => {
    const places = new Places('busy', 2, 60_000);
    const gates = [createDeferred(), createDeferred(), createDeferred()];
    let running = 0;
    let most = 0;
    const all = gates.map(async (gate) =>
      places.in(async () => {
        running += 1;
        most = Math.max(most, running);
        await gate.promise;
        running -= 1;
      }),
    );
    for (const gate of gates) gate.resolve();
    await Promise.all(all);
    expect([running, most]).toEqual([0, 2]);
  });

  it('are refused with 503 and Retry-After to a request that waited too long, and then given to the next', async () => {
    const places = new Places('reading two files', 1, 1);
    const release = await places.take();
    await expect(places.take()).rejects.toMatchObject({
      status: 503,
      message: 'this server is already reading two files: try again in a few seconds',
      more: { headers: { 'retry-after': '5' } },
    });
    release();
    release(); // a second call frees no further place
    const again = await places.take();
    await expect(places.take()).rejects.toMatchObject({ status: 503 });
    again();
  });

  it('are free again after work that failed', async () => {
    const places = new Places('busy', 1, 1);
    await expect(places.in(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await places.in(async () => 'done')).toBe('done');
  });
});
