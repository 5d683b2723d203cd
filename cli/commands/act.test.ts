import { userInfo } from 'node:os';
import type { Action } from '../../operations/action.js';
import { ExitCode } from '../exit-code.js';
import { act, approve, testSink } from './act.js';
import { type AnsweringApi, answeringApi, listening } from './answering-api.test-kit.js';

let api: AnsweringApi;
let asked: unknown[] = [];
let done: { readonly done: true; readonly note?: string };
beforeAll(async () => {
  api = await answeringApi(({ body }) => {
    asked.push(JSON.parse(body));
    return JSON.stringify(done);
  });
});
beforeEach(() => {
  asked = [];
  done = { done: true };
});
afterAll(async () => await api.close());

async function run(
  verb: Action['do'],
  what: string,
  json = false,
  more: { for?: string; end?: boolean } = {},
): Promise<{ code: number; lines: string[] }> {
  const { context, lines } = listening(api.config);
  const code = await act(context, { verb, what, json, ...more });
  return { code, lines };
}

describe('pause, resume, poll-now and sweep', () => {
  it.each([
    ['pause', 'sink:hooks', 'sink hooks is paused'],
    ['resume', 'workspace:acme', 'workspace acme is resumed'],
    ['poll-now', 'pigeonhole:acme/101', 'pigeonhole acme/101 is being read'],
    ['sweep', 'workspace:acme', 'workspace acme is being swept'],
  ] as const)('confirm %s %s with the message "%s"', async (verb, what, sentence) => {
    expect(await run(verb, what)).toEqual({ code: ExitCode.Done, lines: [sentence] });
    const [kind, name] = what.split(':');
    expect(asked).toEqual([{ do: verb, kind, name, by: userInfo().username }]);
  });

  it('accept a name without its kind if the configuration has only one object of this name', async () => {
    expect((await run('pause', 'archive')).lines).toEqual(['sink archive is paused']);
    expect((await run('poll-now', '101')).lines).toEqual(['pigeonhole acme/101 is being read']);
    expect((await run('sweep', 'acme')).lines).toEqual(['workspace acme is being swept']);
    expect(asked).toMatchObject([{ kind: 'sink' }, { kind: 'pigeonhole', name: 'acme/101' }, { kind: 'workspace' }]);
    await expect(run('poll-now', 'archive')).rejects.toMatchObject({ exitCode: ExitCode.WrongUse });
  });

  it('print the result as JSON', async () => {
    const { lines } = await run('pause', 'sink:hooks', true);
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      { done: true, do: 'pause', kind: 'sink', name: 'hooks' },
    ]);
  });

  it.each([
    [
      { for: '2h' },
      7200,
      'every list of pigeonhole acme/101 is read at the live interval for 2 h; end the rehearsal with: pigeonpost poll-now pigeonhole:acme/101 --end',
    ],
    [
      { for: '90s' },
      90,
      'every list of pigeonhole acme/101 is read at the live interval for 90 s; end the rehearsal with: pigeonpost poll-now pigeonhole:acme/101 --end',
    ],
    [{ end: true }, 0, 'the rehearsal of pigeonhole acme/101 has ended'],
  ])('start or end a rehearsal with poll-now %j (for %d s)', async (more, forSeconds, sentence) => {
    expect((await run('poll-now', 'pigeonhole:acme/101', false, more)).lines).toEqual([sentence]);
    expect(asked).toMatchObject([{ do: 'poll-now', forSeconds }]);
  });

  it('print the note of the API instead if there was nothing to do', async () => {
    done = { done: true, note: 'no rehearsal of pigeonhole acme/101 was in progress' };
    expect(await run('poll-now', 'pigeonhole:acme/101', false, { end: true })).toEqual({
      code: ExitCode.Done,
      lines: ['no rehearsal of pigeonhole acme/101 was in progress'],
    });
  });

  it.each([
    ['pigeonhole:acme/101', { for: '2 hours' }, '--for is "2 hours": write a duration from 1s to 24h'],
    ['pigeonhole:acme/101', { for: '25h' }, 'from 1s to 24h'],
    ['pigeonhole:acme/101', { for: '0s' }, 'from 1s to 24h'],
    ['pigeonhole:acme/101', { for: '2h', end: true }, 'not both'],
    ['workspace:acme', { for: '2h' }, '--for and --end apply to one pigeonhole'],
  ])('refuse poll-now %s %j', async (what, more, message) => {
    const refused = run('poll-now', what, false, more);
    await expect(refused).rejects.toMatchObject({
      exitCode: ExitCode.WrongUse,
      message: expect.stringContaining(message),
    });
    expect(asked).toEqual([]);
  });

  it('send no request to read a sink, which has nothing to read', async () => {
    await expect(run('poll-now', 'sink:hooks')).rejects.toMatchObject({ exitCode: ExitCode.WrongUse });
    expect(asked).toEqual([]);
  });
});

describe('sink approve', () => {
  const isTerminal = process.stdin.isTTY;
  beforeEach(() => (process.stdin.isTTY = false));
  afterEach(() => (process.stdin.isTTY = isTerminal));

  it('says how many changes the sink sends, and asks before it approves the sink', async () => {
    const actions: string[] = [];
    const observation = { wouldSend: 681, wouldSendAnonymously: 4, wouldWithhold: {}, behind: 0 };
    const hooks = { name: 'hooks', observation, approval: null };
    const later = { ...hooks, name: 'later', observation: { ...observation, behind: 10 } };
    const empty = { ...hooks, name: 'empty', observation: { ...observation, wouldSend: 0, wouldSendAnonymously: 0 } };
    const running = await answeringApi(({ method, body }) => {
      if (method === 'GET') return JSON.stringify({ workspaces: [], sinks: [hooks, later, empty] });
      actions.push(body);
      return JSON.stringify({ done: true });
    });
    const { context, lines } = listening(running.config);
    const approving = (name: string, yes: boolean) => approve(context, name, { yes, json: false });
    try {
      await expect(approving('hooks', false)).rejects.toMatchObject({
        exitCode: ExitCode.WrongUse,
        message:
          'Let sink hooks send? This sends 685 changes and all later ones. There is no terminal to confirm at: add --yes',
      });
      expect(actions).toEqual([]);
      for (const [name, yes] of [
        ['hooks', true],
        ['later', true],
        ['empty', false],
      ] as const)
        expect(await approving(name, yes)).toBe(ExitCode.Done);
      expect(lines).toEqual([
        'sink hooks is approved: it sends 685 changes and all later ones',
        'sink later is approved: it sends about 695 changes and all later ones',
        'sink empty is approved: it sends all changes from now on',
      ]);
      expect(actions).toHaveLength(3);
    } finally {
      await running.close();
    }
  });
});

describe('sink test', () => {
  it.each([
    [true, 'HTTP 200', ExitCode.Done, 'sink hooks delivered the test message: HTTP 200'],
    [false, 'HTTP 500', ExitCode.Failed, 'sink hooks did not deliver the test message: HTTP 500'],
  ])('prints whether the message was delivered (%s)', async (delivered, detail, code, line) => {
    const urls: string[] = [];
    const answer = JSON.stringify({ delivered, detail });
    const testing = await answeringApi(({ method, url }) => {
      urls.push(`${method} ${url}`);
      return answer;
    });
    const { context, lines } = listening(testing.config);
    expect(await testSink(context, 'hooks', { json: false })).toBe(code);
    expect(await testSink(context, 'sink:hooks', { json: true })).toBe(code);
    expect([urls[0], lines]).toEqual(['POST /api/sinks/hooks/test', [line, answer]]);
    await testing.close();
  });
});
