import { ExitCode } from '../exit-code.js';
import type { Context } from '../command.js';
import { type AnsweringApi, answeringApi } from './answering-api.test-kit.js';
import { fields, formatFields } from './fields.js';
import type { SeenField } from '../../api/fields.js';

const stored = {
  list: 'attendees',
  pigeonholes: [
    {
      workspace: 'acme',
      pigeonholeId: 102,
      items: 2,
      fields: [{ field: 'E-mail', member: null, types: { string: 2 }, filled: 1, values: null }],
    },
  ],
};

let api: AnsweringApi;
let asked: (string | undefined)[] = [];
beforeAll(async () => {
  api = await answeringApi(({ url }) => {
    asked.push(url);
    return JSON.stringify(url.includes('votes') ? { list: 'votes', pigeonholes: [] } : stored);
  });
});
beforeEach(() => {
  asked = [];
});
afterAll(async () => await api.close());

async function run(options: Partial<Parameters<typeof fields>[1]>): Promise<{ code: ExitCode; lines: string[] }> {
  const lines: string[] = [];
  const out = { line: (text: string) => lines.push(text), note: () => undefined } as unknown as Context['out'];
  const context = { config: api.config, debug: false, out };
  return { code: await fields(context, { list: 'attendees', json: false, ...options }), lines };
}

describe('pigeonpost fields', () => {
  it('prints a table for each pigeonhole', async () => {
    expect(await run({ pigeonhole: 'acme/102' })).toEqual({
      code: ExitCode.Done,
      lines: ['pigeonhole acme/102: 2 items', '  field     filled  kind  values', '  `E-mail`    50 %  text'],
    });
    expect(asked).toEqual(['/api/fields?list=attendees&pigeonhole=acme%2F102']);
  });

  it('prints the same data as one JSON document', async () => {
    const { lines } = await run({ json: true });
    expect(JSON.parse(lines.join(''))).toEqual(stored);
  });

  it('exits with 4 if no item of the list is stored', async () => {
    expect(await run({ list: 'votes' })).toEqual({ code: ExitCode.NotFound, lines: [] });
  });

  it.each([
    [{ list: 'atendees' }, '"atendees" is not a list: did you mean "attendees"?'],
    [{ pigeonhole: 'acme' }, '--pigeonhole is "acme": give WORKSPACE/ID or ID'],
  ])('sends no request if it is used wrongly: %j', async (options, message) => {
    await expect(run(options)).rejects.toMatchObject({ exitCode: ExitCode.WrongUse, message });
    expect(asked).toEqual([]);
  });
});

const field = (name: string, more: Partial<SeenField> = {}): SeenField => ({
  field: name,
  member: null,
  types: { string: 10 },
  filled: 10,
  values: null,
  ...more,
});
const of = (fields: readonly SeenField[], items = 1_000): string[] =>
  formatFields({ workspace: 'acme', pigeonholeId: 101, items, fields });

describe('the fields of a pigeonhole', () => {
  it('are shown as a table', () => {
    expect(
      of([
        field('E-mail', { filled: 990 }),
        field('question', { types: { object: 1_000 }, filled: 1_000 }),
        field('question', { member: 'status', filled: 1_000, values: { hidden: 1, approved: 999 } }),
        field('tags', { types: { null: 5, array: 2, string: 3 }, filled: 0 }),
      ]),
    ).toEqual([
      'pigeonhole acme/101: 1,000 items',
      '  field            filled  kind        values',
      '  `E-mail`           99 %  text',
      '  question          100 %  object',
      '  question.status   100 %  text        approved (999), hidden (1)',
      '  tags                0 %  text, list',
    ]);
  });

  it.each([
    [1, 1_000, '1 %'],
    [999, 1_000, '99 %'],
    [1_000, 1_000, '100 %'],
    [0, 1_000, '0 %'],
    [505, 1_000, '51 %'],
  ])('shows %i of %i as %s, and 100 % or 0 % only if exact', (filled, items, expected) => {
    expect(of([field('x', { filled })], items)[2]).toMatch(new RegExp(`^ +x +${expected} `));
  });

  it('contain no control characters of a field name', () => {
    expect(of([field('\u001b[2Jx')]).join('')).not.toContain('\u001b');
  });

  it('say that a workspace’s own lists belong to no pigeonhole', () => {
    expect(formatFields({ workspace: 'acme', pigeonholeId: 0, items: 1, fields: [] })[0]).toBe(
      'workspace acme: 1 item',
    );
  });
});
