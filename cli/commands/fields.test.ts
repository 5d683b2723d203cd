import { ExitCode } from '../exit-code.js';
import type { Context } from '../context.js';
import { type AnsweringApi, answeringApi } from './answering-api.test-kit.js';
import { fields } from './fields.js';

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

  it('prints the same as one JSON document', async () => {
    const { lines } = await run({ json: true });
    expect(JSON.parse(lines.join(''))).toEqual(stored);
  });

  it('ends with 4 when nothing of the list is stored', async () => {
    expect(await run({ list: 'votes' })).toEqual({ code: ExitCode.NotFound, lines: [] });
  });

  it.each([
    [{ list: 'atendees' }, '"atendees" is no list: did you mean "attendees"?'],
    [{ pigeonhole: 'acme' }, '--pigeonhole is "acme": write WORKSPACE/ID, or the ID alone'],
  ])('asks nothing when it is used wrongly: %j', async (options, message) => {
    await expect(run(options)).rejects.toMatchObject({ exitCode: ExitCode.WrongUse, message });
    expect(asked).toEqual([]);
  });
});
