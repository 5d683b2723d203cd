import { shareAnswers } from './check-ready.js';

function asking() {
  const asked: string[] = [];
  let at = 0;
  const ask = shareAnswers(
    async (name: string) => {
      asked.push(name);
      if (name === 'bad') throw new Error('not now');
      return `${name} ${asked.length}`;
    },
    { nameOf: (name) => name, forMs: 10, now: () => at },
  );
  return { ask, asked, pass: (ms: number) => (at += ms) };
}

describe('a shared answer', () => {
  it('is used for concurrent requests and for requests within 10 ms', async () => {
    const { ask, asked, pass } = asking();
    expect(await Promise.all([ask('a'), ask('a'), ask('b')])).toEqual(['a 1', 'a 1', 'b 2']);
    pass(9);
    expect(await ask('a')).toBe('a 1');
    pass(1);
    expect(await ask('a')).toBe('a 3');
    expect(asked).toEqual(['a', 'b', 'a']);
  });

  it('is not stored if the request fails', async () => {
    const { ask, asked } = asking();
    await expect(ask('bad')).rejects.toThrow('not now');
    await expect(ask('bad')).rejects.toThrow('not now');
    expect(asked).toHaveLength(2);
  });
});
