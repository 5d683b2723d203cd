import { ExitCode } from '../exit-code.js';
import { type AnsweringApi, answeringApi, listening } from './answering-api.test-kit.js';
import { fields, formatFields, preview } from './mappings.js';
import type { SeenField } from '../../api/items.js';
import type { Preview } from '../../operations/preview-sink.js';

describe('pigeonpost fields', () => {
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

  async function run({
    list = 'attendees',
    ...options
  }: {
    list?: string;
    pigeonhole?: string;
    json?: boolean;
  }): Promise<{ code: ExitCode; lines: string[] }> {
    const { context, lines } = listening(api.config);
    return { code: await fields(context, list, { json: false, ...options }), lines };
  }

  describe('on the command line', () => {
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
});

describe('pigeonpost preview', () => {
  let api: AnsweringApi;
  let shown: Preview;
  beforeAll(async () => {
    const records = (text: string): string =>
      `records: [ { from: attendees, object: contacts, match: [email], properties: { email: '${text}' } } ]`;
    api = await answeringApi(
      () => JSON.stringify(shown),
      [
        'workspaces: { acme: { baseUrl: "https://engagement.example.com", apiKey: "${file:key}" } }',
        'syncs: { all: { workspace: acme, sinks: [crm, other] } }',
        'sinks:',
        `  crm: { type: hubspot, token: "\${file:key}", ${records('item.Email')} }`,
        `  other: { type: hubspot, token: "\${file:key}", ${records('item.Phone')} }`,
      ],
    );
  });
  afterAll(async () => await api.close());

  async function run(options: Partial<Parameters<typeof preview>[1]> = {}): Promise<string[]> {
    const { context, lines } = listening(api.config);
    await preview(context, { sink: 'crm', limit: 20, json: false, ...options });
    return lines;
  }

  const note =
    'crm.records[0].properties.email (line 4) reads item.Email, never seen on attendees of pigeonhole acme/101; seen: "E-mail"';

  describe('on the command line', () => {
    it('shows counts of all stored items, problems, and fields that no item has', async () => {
      const count = { list: 'attendees', items: 2, withheld: { 'no-match': 2140 }, failed: 1, estimated: true };
      shown = {
        items: [],
        more: false,
        counts: [count],
        problems: ['all 2,140 attendees lack a value'],
        notes: [note],
      };
      expect(await run()).toEqual([
        'no stored items to send',
        '',
        'of all stored items:',
        '  attendees: about 2 to send, 2,140 withheld: no value to match by, 1 for which the mapping fails',
        'PROBLEM all 2,140 attendees lack a value',
        `note    ${note}`,
      ]);
      expect(JSON.parse((await run({ json: true }))[0]!)).toEqual(shown);
    });

    it('shows the method and address of each call as a line, and its body below', async () => {
      const calls = [
        { method: 'GET', address: 'https://crm.example.com/people?code=7', body: null },
        { method: 'POST', address: 'https://crm.example.com/people', body: { email: 'ann@example.com' } },
        { method: 'append', address: '/data/notes.txt', body: 'one\ntwo' },
      ];
      const item = { workspace: 'acme', pigeonholeId: 101, list: 'attendees', key: '7', revision: 1 };
      const more = { more: false, counts: [], problems: [], notes: [] };
      shown = { items: [{ ...item, now: { kind: 'send', calls } }], ...more };
      expect((await run()).slice(1)).toEqual([
        '  GET https://crm.example.com/people?code=7',
        '  POST https://crm.example.com/people',
        '    {',
        '      "email": "ann@example.com"',
        '    }',
        '  append /data/notes.txt',
        '    one',
        '    two',
      ]);
    });

    it('reports an unknown item and exits with "not found"', async () => {
      shown = { items: [], more: false, counts: [], problems: [], notes: [] };
      await expect(run({ item: `attendee:it's "100 %"` })).rejects.toMatchObject({
        exitCode: 4,
        message: `sink crm would not receive attendees:it's "100 %", or it is not stored: "pigeonpost why" explains it`,
      });
    });

    it('reports an invalid item before it sends a request', async () => {
      await expect(run({ item: 'people:1' })).rejects.toMatchObject({ exitCode: 2 });
      await expect(run({ item: `attendees:${'9'.repeat(5000)}` })).rejects.toMatchObject({
        exitCode: 4,
        message: expect.stringMatching(/^no item has the key "9{60}…": [^\n]+$/),
      });
    });
  });
});
