import { userInfo } from 'node:os';
import type { Action } from '../../api/action.js';
import type { Context } from '../context.js';
import { ExitCode } from '../exit-code.js';
import { act } from './act.js';
import { type AnsweringApi, answeringApi } from './answering-api.test-kit.js';

let api: AnsweringApi;
let asked: unknown[] = [];
beforeAll(async () => {
  api = await answeringApi(({ body }) => {
    asked.push(JSON.parse(body));
    return '{"done":true}';
  });
});
beforeEach(() => {
  asked = [];
});
afterAll(async () => await api.close());

async function run(verb: Action['do'], what: string, json = false): Promise<{ code: number; lines: string[] }> {
  const lines: string[] = [];
  const out = { line: (text: string) => void lines.push(text) } as Context['out'];
  const code = await act({ config: api.config, debug: false, out }, { verb, what, json });
  return { code, lines };
}

describe('pause, resume, poll-now, sweep and approve', () => {
  it.each([
    ['pause', 'sink:hooks', 'sink hooks is paused'],
    ['resume', 'workspace:acme', 'workspace acme is resumed'],
    ['poll-now', 'pigeonhole:acme/101', 'pigeonhole acme/101 is read now'],
    ['sweep', 'workspace:acme', 'workspace acme is walked whole now'],
    ['approve', 'sink:hooks', 'sink hooks is approved and sends from its watermark'],
  ] as const)('answer %s %s with the sentence "%s"', async (verb, what, sentence) => {
    expect(await run(verb, what)).toEqual({ code: ExitCode.Done, lines: [sentence] });
    const [kind, name] = what.split(':');
    expect(asked).toEqual([{ do: verb, kind, name, by: userInfo().username }]);
  });

  it('say in JSON what was done', async () => {
    const { lines } = await run('pause', 'sink:hooks', true);
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      { done: true, do: 'pause', kind: 'sink', name: 'hooks' },
    ]);
  });

  it('ask nothing when a sink is to be read, since there is nothing to read', async () => {
    await expect(run('poll-now', 'sink:hooks')).rejects.toMatchObject({ exitCode: ExitCode.WrongUse });
    expect(asked).toEqual([]);
  });
});
