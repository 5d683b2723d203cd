import type { Preview } from '../../operations/preview-sink.js';
import type { Context } from '../command.js';
import { type AnsweringApi, answeringApi } from './answering-api.test-kit.js';
import { preview, type PreviewOptions } from './preview.js';

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

async function run(options: Partial<PreviewOptions> = {}): Promise<string[]> {
  const lines: string[] = [];
  const out = { line: (text: string) => void lines.push(text) } as Context['out'];
  const context = { config: api.config, debug: false, out };
  await preview(context, { sink: 'crm', limit: 20, json: false, ...options });
  return lines;
}

const note =
  'crm.records[0].properties.email (line 4) reads item.Email, never seen on attendees of pigeonhole acme/101; seen: "E-mail"';

describe('a preview on the command line', () => {
  it('shows counts of all stored items, problems, and fields that no item has', async () => {
    const count = { list: 'attendees', items: 2, withheld: { 'no-match': 2140 }, failed: 1, estimated: true };
    shown = { items: [], more: false, counts: [count], problems: ['all 2,140 attendees lack a value'], notes: [note] };
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
