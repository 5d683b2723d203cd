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

describe('a redrive of dead letters', () => {
  const one = { workspace: 'acme', pigeonholeId: 101, list: 'attendees', key: '1', revision: 1 };
  const group = { sink: 'crm', cause: 'http:422', list: 'attendees', changes: 1, newest: '2026-11-21T09:00:00.000Z' };
  const letter = { ...one, sink: 'crm', cause: 'http:422', detail: 'HTTP 422: unknown field' };

  /** Redrives one dead letter. @param refused whether the destination refuses it again */
  async function redriven(refused: boolean, ...words: string[]): Promise<{ code: unknown; lines: string[] }> {
    let isQueued = false;
    let asked = 0;
    const api = await answeringApi(({ method, url }) => {
      if (method === 'POST') isQueued = true;
      if (method === 'POST') return JSON.stringify({ done: true, changes: 1 });
      if (url.startsWith('/api/dead-letters/items')) {
        return JSON.stringify({ items: !isQueued || (refused && asked > 1) ? [letter] : [], next: null, more: false });
      }
      if (url.startsWith('/api/dead-letters')) return JSON.stringify({ groups: [{ ...group, detail: letter.detail }] });
      asked += 1; // the first time, the change is still in progress
      const waiting = { list: 'attendees', state: 'waiting', reason: null, changes: 1, words: null };
      return JSON.stringify({ outcomes: asked === 1 ? [waiting] : [] });
    });
    const lines: string[] = [];
    const out = { line: (text: string) => void lines.push(text), note: () => undefined, draw: () => undefined };
    let code: unknown;
    const shown = { ...out, terminal: false, colours: false, columns: 80, rows: 24 };
    const program = createProgram(shown, (given) => (code = given));
    try {
      const all = ['--config', api.config, 'dead-letters', 'redrive', '--sink', 'crm', '--yes', ...words];
      await program.parseAsync(all, { from: 'user' });
      return { code, lines };
    } finally {
      await api.close();
    }
  }

  it('says that a change was refused again, with the answer, and ends with exit code 5', async () => {
    expect(await redriven(true)).toEqual({
      code: 5,
      lines: ['1 change refused again', '  http:422: HTTP 422: unknown field'],
    });
  });

  it('prints one JSON document with the outcomes', async () => {
    const { code, lines } = await redriven(false, '--json');
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      { done: true, changes: 1, settled: 1, refusedAgain: 0, onTheWay: 0 },
    ]);
    expect(code).toBe(0);
  });
});
