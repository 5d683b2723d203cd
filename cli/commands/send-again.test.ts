import { createProgram } from '../run-command-line.js';
import { answeringApi } from './answering-api.test-kit.js';

/** Runs `pigeonpost replay` with these words. @returns the sink and the lists of its request */
async function requested(words: string): Promise<unknown> {
  let body: { sink?: string; lists?: string[] } = {};
  const api = await answeringApi((asked) => {
    body = JSON.parse(asked.body) as typeof body;
    return JSON.stringify({ id: 'a', dryRun: true, counts: [] });
  });
  const out = { line: () => undefined, note: () => undefined, draw: () => undefined };
  const program = createProgram({ ...out, terminal: false, colours: false, columns: 80, rows: 24 }, () => undefined);
  try {
    await program.parseAsync(['--config', api.config, 'replay', ...words.split(' ')], { from: 'user' });
    return [body.sink, body.lists];
  } finally {
    await api.close();
  }
}

describe('the lists of a replay', () => {
  it.each([
    ['hooks --list questions votes', 'hooks', ['questions', 'votes']],
    ['--list questions hooks', 'hooks', ['questions']],
    ['--list questions vote sink:hooks', 'hooks', ['questions', 'votes']],
    ['--list questions --list votes --dry-run hooks', 'hooks', ['questions', 'votes']],
    ['--list questions votes --all', null, ['questions', 'votes']],
    ['hooks', 'hooks', null],
  ])('do not contain the sink: %s', async (words, sink, lists) => {
    expect(await requested(words)).toEqual([sink, lists]);
  });

  it.each([
    ['--list hooks', 'give the name of a sink, or --all for every sink'],
    ['hooks --list questions vot', '"vot" is not a list: did you mean "votes"?'],
  ])('are refused if a name is missing or unknown: %s', async (words, message) => {
    await expect(requested(words)).rejects.toThrow(message);
  });
});
