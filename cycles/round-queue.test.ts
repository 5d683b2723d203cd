import { setMaxListeners } from 'node:events';
import { createDeferred } from '../base/deferred.js';
import { type RoundKind, RoundQueue } from './round-queue.js';

const never = new AbortController().signal;
setMaxListeners(0, never);

/** Rounds that run until they are ended. */
function rounds(places: number) {
  const rounds = new RoundQueue(places);
  const started: string[] = [];
  const results: (string | undefined)[] = [];
  const ends = new Map<string, () => void>();
  return {
    rounds,
    started,
    results,
    ask: (name: string, workspace: string, kind: RoundKind, signal = never): void => {
      rounds
        .run({ kind, workspace }, signal, async () => {
          started.push(name);
          const { promise, resolve } = createDeferred();
          ends.set(name, resolve);
          await promise;
          return name;
        })
        .then(
          (result) => results.push(result),
          () => undefined,
        );
    },
    end: async (name: string): Promise<void> => {
      ends.get(name)!();
      await settled();
    },
  };
}

async function settled(): Promise<void> {
  for (let n = 0; n < 10; n += 1) await Promise.resolve();
}

describe('the queue of rounds', () => {
  it('start running sessions first, then other polls, then background work', async () => {
    const { ask, end, started } = rounds(1);
    ask('first', 'acme', 'poll');
    ask('sweep', 'acme', 'background');
    ask('poll', 'acme', 'poll');
    ask('session', 'acme', 'live');
    await settled();
    for (const name of ['first', 'session', 'poll']) await end(name);
    expect(started).toEqual(['first', 'session', 'poll', 'sweep']);
  });

  it('rotate among workspaces within a kind', async () => {
    const { ask, end, started } = rounds(1);
    ask('a1', 'a', 'poll');
    await settled();
    for (const name of ['a2', 'a3', 'b1', 'c1', 'b2']) ask(name, name[0]!, 'poll');
    for (const name of ['a1', 'b1', 'c1', 'a2', 'b2']) await end(name);
    expect(started).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
  });

  it('leave places free for running sessions, whatever a workspace with many items asks for', async () => {
    const { ask, started } = rounds(8);
    ask('other', 'other', 'live');
    for (let n = 0; n < 20; n += 1) ask(`big${n}`, 'big', 'background');
    for (let n = 0; n < 20; n += 1) ask(`slow${n}`, 'slow', 'poll');
    await settled();
    expect(started).toEqual(['other', 'big0', 'slow0', 'slow1']);
    ask('session', 'acme', 'live');
    ask('own session', 'big', 'live');
    await settled();
    expect(started.slice(4)).toEqual(['session', 'own session']);
  });

  it('give all places to the only workspace, but only a quarter to its background work', async () => {
    const { ask, started } = rounds(8);
    for (let n = 0; n < 20; n += 1) ask(`big${n}`, 'acme', 'background');
    for (let n = 0; n < 20; n += 1) ask(`poll${n}`, 'acme', 'poll');
    await settled();
    expect(started.filter((name) => name.startsWith('big'))).toHaveLength(2);
    expect(started).toHaveLength(8);
  });

  it('pass a round whose signal is aborted, and give its place to the next one', async () => {
    const { ask, end, started, results } = rounds(1);
    const stop = new AbortController();
    ask('first', 'acme', 'poll');
    ask('aborted', 'acme', 'live', stop.signal);
    ask('next', 'acme', 'poll');
    stop.abort();
    await settled();
    expect(results).toEqual([undefined]);
    await end('first');
    expect(started).toEqual(['first', 'next']);
  });

  it('free the place of a round that fails', async () => {
    const rounds = new RoundQueue(1);
    const failing = rounds.run({ kind: 'poll', workspace: 'acme' }, never, () => Promise.reject(new Error('no')));
    await expect(failing).rejects.toThrow('no');
    expect(await rounds.run({ kind: 'poll', workspace: 'acme' }, never, async () => 'done')).toBe('done');
  });
});
