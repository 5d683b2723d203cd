import { ExitCode } from '../exit-code.js';
import { type AnsweringApi, answeringApi, listening } from './answering-api.test-kit.js';
import { decideAll, listDeletions, showDeletions } from './deletions.js';

const hold = (id: number, pigeonholeId: number, list: string, items: number) => ({
  id,
  workspace: 'acme',
  pigeonholeId,
  list,
  foundAt: '2026-11-26T10:00:00Z',
  items,
  ofItems: 40,
  sessions: [],
});
const held = [hold(1, 101, 'votes', 5), hold(2, 101, 'questions', 7), hold(3, 102, 'votes', 11)];

let api: AnsweringApi;
const asked: unknown[] = [];
beforeAll(async () => {
  api = await answeringApi(({ method, body }) => {
    if (method === 'GET') return JSON.stringify({ held });
    asked.push(JSON.parse(body));
    return JSON.stringify({ done: true, deletions: 2, items: 12 });
  });
});
beforeEach(() => void asked.splice(0));
afterAll(async () => await api.close());

const options = { all: false, yes: true, json: false };

describe('a decision about several held deletions', () => {
  it.each([
    [{ all: true }, { items: 23 }],
    [{ pigeonhole: 'acme/101' }, { items: 12, workspace: 'acme', pigeonholeId: 101 }],
    [{ list: 'votes' }, { items: 16, list: 'votes' }],
    [
      { pigeonhole: 'acme/102', list: 'votes' },
      { items: 11, workspace: 'acme', pigeonholeId: 102, list: 'votes' },
    ],
  ])('requests the scope of %j with the number of its items', async (scope, body) => {
    const { context, lines } = listening(api.config);
    expect(await decideAll(context, 'rejected', { ...options, ...scope })).toBe(ExitCode.Done);
    expect(asked).toEqual([{ decision: 'rejected', ...body }]);
    expect(lines).toEqual(['12 items of 2 held deletions kept']);
  });

  it.each([{}, { all: true, list: 'votes' }, { pigeonhole: '101' }])('needs one clear scope, not %j', async (scope) => {
    const { context } = listening(api.config);
    const decided = decideAll(context, 'confirmed', { ...options, ...scope });
    await expect(decided).rejects.toMatchObject({ exitCode: ExitCode.WrongUse });
    expect(asked).toEqual([]);
  });
});

it('names the items of a held deletion, with their event and session, and without control characters', async () => {
  const name = { noun: 'a question', title: null, person: null, session: 'Opening\u001b[2J keynote', event: 'DevConf' };
  const one = {
    ...hold(3, 101, 'questions', 2),
    event: 'DevConf',
    sessions: [{ sessionId: 5, title: 'Opening keynote', items: 2 }],
    keys: ['9001', '9002'],
    names: [name, name],
  };
  const showing = await answeringApi(() => JSON.stringify(one));
  const { context, lines } = listening(showing.config);
  expect(await showDeletions(context, '3', { json: false })).toBe(ExitCode.Done);
  expect(lines).toEqual([
    '3  2 of 40 questions of DevConf (acme/101) missing since 2026-11-26T10:00:00Z, from “Opening keynote”',
    '  questions:9001 (a question in “Opening [2J keynote”)',
    '  questions:9002 (a question in “Opening [2J keynote”)',
  ]);
  await showing.close();
});

it('lists held deletions with their total', async () => {
  const { context, lines } = listening(api.config);
  expect(await listDeletions(context, { json: false })).toBe(ExitCode.Done);
  expect(lines).toHaveLength(4);
  expect(lines.at(-1)).toMatch(/^23 items in 2 pigeonholes\. .*"pigeonpost deletions confirm --pigeonhole acme\/101"/);
});
