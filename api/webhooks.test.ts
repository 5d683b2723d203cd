import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { z } from 'zod';
import { type Change, changeJson } from '../sinks/change.js';
import { sampleChange } from '../sinks/sample-change.test-kit.js';
import { apiSources, emptyConfig, emptyLedger } from './api-sources.test-kit.js';
import { createApp } from './create-app.js';
import { changeSchema } from './webhooks.js';

interface Described {
  readonly webhooks: Readonly<Record<string, { readonly post: { readonly requestBody: object } }>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

let described: Described;
beforeAll(async () => {
  const config = emptyConfig({ host: '127.0.0.1', port: 8088 });
  const app = createApp(apiSources({ ledger: emptyLedger(), config }));
  const answer = await app.request('/openapi.json', { headers: { host: '127.0.0.1' } });
  described = (await answer.json()) as Described;
});

/** Returns the problems of a body, found by a validator that knows only the published description. */
function problemsOf(webhook: string, body: unknown): string[] {
  const { schema } = (described.webhooks[webhook]!.post.requestBody as { content: Record<string, { schema: object }> })
    .content['application/json']!;
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  const validate = ajv.compile({ ...schema, components: described.components });
  return validate(body) ? [] : validate.errors!.map(({ instancePath, message }) => `${instancePath} ${message}`);
}

describe('the description of webhooks', () => {
  it.each([
    ['a change', sampleChange()],
    ['a deletion', sampleChange({ type: 'questions.deleted', data: null })],
    ['a replayed change of a workspace', sampleChange({ pigeonholeId: 0, sessionId: null, replay: 'r1' })],
  ])('fits %s, byte for byte as it is sent', (_what, change) => {
    expect(problemsOf('change', JSON.parse(changeJson(change)))).toEqual([]);
  });

  it.each([
    ['revision', 0],
    ['type', 'questions.moved'],
    ['data', 'a text'],
    ['pigeonholeId', '101'],
  ])('does not fit a change with a wrong %s', (field, value) => {
    expect(problemsOf('change', { ...sampleChange(), [field]: value })).not.toEqual([]);
  });

  it('has the fields of an envelope, and no others', () => {
    const same: Exact<keyof Change, KnownKeys<z.infer<typeof changeSchema>>> = true;
    expect([same, Object.keys(changeSchema.shape)]).toEqual([
      true,
      Object.keys(JSON.parse(changeJson(sampleChange({ replay: 'r1' }))) as object),
    ]);
  });

  it('says the same about each field as docs/change-envelope.md', () => {
    const page = readFileSync(join(__dirname, '../docs/change-envelope.md'), 'utf8');
    const rows = [...page.matchAll(/^\| `(\w+)` \| [^|]+ \| (.+) \|$/gm)].map(([, field, meaning]) => [field, meaning]);
    expect(rows).toEqual(Object.entries(changeSchema.shape).map(([field, { description }]) => [field, description]));
  });
});

type KnownKeys<T> = keyof { [K in keyof T as string extends K ? never : K]: T[K] };
type Exact<A, B> = [A] extends [B] ? ([B] extends [A] ? true : never) : never;
