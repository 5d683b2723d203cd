import { createProgram } from './run-command-line.js';

const nothing = { line: () => undefined, note: () => undefined, draw: () => undefined };

async function run(...words: string[]): Promise<void> {
  const out = { ...nothing, terminal: false, colours: false, columns: 80, rows: 24 };
  await createProgram(out, () => undefined).parseAsync(words, { from: 'user' });
}

describe('a command that contacts no running pigeonpost', () => {
  it.each([
    ['start'],
    ['worker'],
    ['check'],
    ['doctor'],
    ['init', '--yes'],
    ['restore', 'a.age'],
    ['key', 'export', '-'],
  ])('refuses --url instead of ignoring it: %s', async (...words) => {
    const name = words.filter((word) => /^[a-z]+$/.test(word)).join(' ');
    await expect(run('--url', 'http://127.0.0.1:1', ...words)).rejects.toThrow(
      `"${name}" contacts no running pigeonpost: remove --url`,
    );
  });

  it('refuses --token as well', async () => {
    await expect(run('--token', 'x', 'start')).rejects.toThrow(
      '"start" contacts no running pigeonpost: remove --token',
    );
  });
});
