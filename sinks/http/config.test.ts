import { Secret } from '../../config/secret.js';
import { type HttpConfig, httpConfigSchema } from './config.js';

const valid = { baseUrl: 'https://api.example.com', records: [{ from: 'questions', create: {} }] };

function problems(keys: object): string[] {
  const { error } = httpConfigSchema.safeParse({ ...valid, ...keys });
  return (error?.issues ?? []).map(({ path, message }) => `${path.join('.')}: ${message}`);
}

const parsed = (keys: object): HttpConfig => httpConfigSchema.parse({ ...valid, ...keys });

describe('the keys of an http sink', () => {
  it.each<[object, RegExp]>([
    [{ baseUrl: undefined }, /^baseUrl: allowed: an https address/],
    [{ baseUrl: 'https://api.example.com/hook?sig=1' }, /^baseUrl: allowed: .*or a query, write it as \$\{NAME\}/],
    [{ baseUrl: 'http://api.example.com' }, /^baseUrl: must begin with https/],
    [{ records: undefined }, /^records: allowed: at least one record/],
    [{ records: [{ from: 'questions' }] }, /^records.0.create: allowed: a request/],
    [{ records: [{ create: {} }] }, /^records.0.from: allowed: the name of a list/],
    [{ records: [valid.records[0], valid.records[0]] }, /^records.1.name: this name is used twice/],
    [{ records: [{ ...valid.records[0], requires: ['user'] }] }, /^records.0.properties.user: allowed: a JSONata/],
    [{ records: [{ ...valid.records[0], find: {} }] }, /^records.0.find.idFrom: allowed/],
    [{ auth: { type: 'bearer' } }, /^auth.token: is missing: "type: bearer" needs it/],
    [{ auth: { type: 'jwt-bearer', claims: {} } }, /^auth.tokenUrl: is missing.*/],
    [
      {
        auth: {
          type: 'client-credentials',
          tokenUrl: 'http://a.example/t',
          clientId: 'c',
          clientSecret: new Secret('s'),
        },
      },
      /^auth.tokenUrl: must begin with https/,
    ],
    [{ headers: { Authorization: '"x"' } }, /^headers.Authorization: /],
    [{ preset: 'team' }, /^preset: allowed: .*did you mean "teams"/],
    [
      { revisions: 'every', records: [{ from: 'votes', create: { idFrom: 'body.id' } }] },
      /^records.0.create.idFrom: is not for/,
    ],
  ])('are validated: %j', (keys, message) => {
    expect(problems(keys)[0]).toMatch(message);
  });

  it('hide an address that comes from a reference', () => {
    expect(JSON.stringify(parsed({ baseUrl: new Secret('https://flows.example.com/run?sig=1') }))).not.toContain(
      'flows',
    );
  });
});

describe('a preset', () => {
  it('sets keys that the configuration can override', () => {
    const { auth, batch, records, limits } = parsed({
      preset: 'airtable',
      auth: { token: new Secret('t') },
      batch: { maxAge: '30s' },
      records: [{ from: 'votes', properties: { Vote: 'item.value' }, delete: { method: 'PATCH' } }],
    });
    expect([auth.type, batch, limits]).toEqual([
      'bearer',
      { size: 10, maxAgeMs: 30_000 },
      { perSecond: 5, per10s: 50 },
    ]);
    const [{ create, delete: remove, properties }] = records as [HttpConfig['records'][number]];
    expect([create!.method, create!.batch!.text.includes('performUpsert')]).toEqual(['PATCH', true]);
    expect([remove!.method, remove!.url!.text]).toEqual(['PATCH', '"/" & record.id']);
    expect(Object.keys(properties)).toEqual(['Vote']);
  });

  it('reports its required keys', () => {
    expect(problems({ preset: 'moodle', records: [{ from: 'engagement', properties: { grade: '1' } }] })).toEqual([
      'records.0.properties.courseid: allowed: a JSONata expression',
      'records.0.properties.activityid: allowed: a JSONata expression',
      'records.0.properties.user: allowed: a JSONata expression',
      'auth.value: is missing: "type: parameter" needs it',
    ]);
  });

  it('has default records if none are configured', () => {
    const { records } = httpConfigSchema.parse({ preset: 'teams', baseUrl: new Secret('https://flows.example.com') });
    expect(records.map(({ from }) => from)).toEqual(['qna-questions']);
  });
});
