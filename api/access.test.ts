import { randomUUID } from 'node:crypto';
import { requestErasure } from '../people/erasure-states.js';
import { readErasure } from '../people/erasures.js';
import type { Config } from '../config/config.js';
import { Secret } from '../config/secret.js';
import { anyStore, kinds, useBothDatabases } from '../ledger/drivers/both-databases.test-kit.js';
import { type Ledger, openLedger } from '../ledger/ledger.js';
import { testKey } from '../ledger/ledger-key.test-kit.js';
import { addToken } from '../ledger/tokens.js';
import { apiSources, emptyConfig, fromHere, localToken } from './api-sources.test-kit.js';
import type { ApiApp, ApiSources } from './api-app.js';
import { createApp } from './create-app.js';
import { deskOf } from '../importing/desk/desk.test-kit.js';
import { ImportRefusal } from '../importing/desk/import-request.js';
import { planOf } from '../operations/configuration-plan.test-kit.js';
import type { EventView } from '../operations/provision-event.js';
import { type Role, roles } from './authenticate.js';
import { makeToken } from './credentials.js';

const databases = useBothDatabases();
const serverToken = 'the-token-of-the-server';

const key = (text: string) => ({ apiKey: new Secret(text), quota: { reserve: 0.1 } });
const deletions = { confirmMs: 1000, settleMs: 1000, holdAbove: { share: 0.1, items: 10 } };
const everyMs = { live: 5000, new: 5000, upcoming: 5000, ended: 5000, sweep: 5000, lists: {} };

/** A server off loopback, where every request needs a token. */
const config = {
  ...emptyConfig({ host: '0.0.0.0', port: 8088, token: new Secret(serverToken) }),
  workspaces: { acme: key('one'), other: key('two') },
  syncs: {
    own: { workspace: 'acme', sinks: ['hooks', 'shared'], lists: ['sessions'], drop: {}, deletions, everyMs },
    others: { workspace: 'other', sinks: ['shared', 'theirs'], lists: ['sessions'], drop: {}, deletions, everyMs },
  },
  sinks: { hooks: { type: 'webhook' }, shared: { type: 'file' }, theirs: { type: 'file' } },
} as unknown as Config;

const uuid = '8b0c6f3e-5d5b-4c0f-9a76-f1c7d2b3e410';
const everything = { sink: null, lists: null, pigeonhole: null, from: null, dryRun: true };
const preview = { list: null, key: null, limit: 1, configuration: {}, changedFrom: null };
const event = { file: '/tmp/event.yaml', text: 'x', use: {}, create: [], skip: [] };
const reading: readonly Role[] = roles;
const mapping = '/api/configuration/mappings/hooks';
const newSink = { type: 'file', name: 'new', sync: 'own', given: {} };

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly body?: object;
  readonly may: readonly Role[];
}

/** Every route with the roles that may use it, written independently of the code. */
const repair = { id: uuid, pigeonhole: null, until: 1 };

const routes: readonly Asked[] = [
  ...[
    '/api/status',
    '/api/overview',
    '/api/syncs',
    '/api/syncs/own',
    '/api/pigeonholes',
    '/api/pigeonholes/acme/101',
    '/api/pigeonholes/acme/101/streams',
    '/api/pigeonholes/acme/101/story',
    '/api/pigeonholes/101/ready',
    '/api/pigeonholes/acme/101/statements',
    '/api/statements/1',
    '/api/statements/1/file?format=html',
    '/api/statement-key',
    '/api/sinks',
    '/api/sinks/hooks',
    '/api/sinks/hooks/lanes',
    '/api/sinks/hooks/activity',
    '/api/pigeonholes/acme/101/activity?span=7d',
    '/api/sinks/hooks/outcomes',
    '/api/sinks/hooks/parity',
    '/api/sinks/hooks/parity/findings',
    '/api/sinks/hooks/deliveries?pigeonhole=acme/101',
    '/api/dead-letters',
    '/api/dead-letters/items',
    '/api/dead-letters/plan?sink=hooks',
    '/api/deliveries?sink=hooks&state=dead',
    '/api/attempts?sink=hooks',
    '/api/attempts?sink=hooks&since=0000-01-01T00:00:00Z', // a year that PostgreSQL does not have
    '/api/attempts/1',
    '/api/quota',
    '/api/quota/days',
    '/api/fields?list=attendees',
    '/api/items/acme/101/attendees',
    '/api/items/acme/101/attendees/1',
    '/api/why?list=attendees&key=1',
    '/api/deletions',
    '/api/deletions/1',
    '/api/imports',
    '/api/imports/7',
    '/api/incidents',
    '/api/caller',
  ].map((path) => ({ method: 'GET', path, may: reading })),
  { method: 'HEAD', path: '/api/changes/live', may: reading },
  { method: 'POST', path: '/api/find', body: { text: 'lunch' }, may: reading },
  { method: 'POST', path: '/api/find', body: { text: 'lunch', personal: true }, may: ['privacy', 'admin'] },
  { method: 'POST', path: '/api/preview', body: { ...preview, sink: 'hooks', pigeonhole: 'acme/101' }, may: reading },
  ...['/api/items/acme/101/attendees?personal=1', '/api/items/acme/101/attendees/1?personal=1'].map((path) => ({
    method: 'GET',
    path,
    may: ['privacy', 'admin'] as const,
  })),
  { method: 'HEAD', path: '/api/changes/live?personal=1', may: ['privacy', 'admin'] },
  {
    method: 'POST',
    path: '/api/preview?personal=1',
    body: { ...preview, sink: 'hooks', pigeonhole: 'acme/101' },
    may: ['privacy', 'admin'],
  },
  {
    method: 'POST',
    path: '/api/preview',
    body: { ...preview, sink: 'hooks', pigeonhole: 'acme/101', configuration: { file: '/tmp/x.yaml', text: 'x' } },
    may: ['admin'],
  },
  { method: 'POST', path: '/api/status/recount', body: {}, may: ['operator', 'admin'] },
  { method: 'POST', path: '/api/pigeonholes/acme/101/statements', body: {}, may: ['operator', 'admin'] },
  {
    method: 'POST',
    path: '/api/actions',
    body: { do: 'pause', kind: 'sink', name: 'hooks' },
    may: ['operator', 'admin'],
  },
  { method: 'POST', path: '/api/replays', body: { ...everything, id: uuid }, may: ['operator', 'admin'] },
  { method: 'POST', path: '/api/dead-letters/redrive', body: { sink: 'hooks' }, may: ['operator', 'admin'] },
  { method: 'POST', path: '/api/deletions/1', body: { decision: 'confirmed', items: 1 }, may: ['operator', 'admin'] },
  { method: 'POST', path: '/api/deletions', body: { decision: 'confirmed', items: 1 }, may: ['operator', 'admin'] },
  { method: 'POST', path: '/api/configuration/plan', body: {}, may: ['operator', 'admin'] },
  { method: 'POST', path: '/api/configuration/plan', body: { file: '/tmp/x.yaml', text: 'x' }, may: ['admin'] },
  { method: 'GET', path: '/api/configuration/drafts', may: ['operator', 'admin'] },
  { method: 'GET', path: '/api/configuration/mappings/hooks', may: ['operator', 'admin'] },
  { method: 'POST', path: `${mapping}/try`, body: { text: null, item: null }, may: ['operator', 'admin'] },
  // An author needs the rights of an operator and those of privacy.
  ...['/try', '/try?personal=1', '/draft'].map((path) => ({
    method: 'POST',
    path: `${mapping}${path}`,
    body: path === '/draft' ? { text: '', base: '', replaces: null } : { text: '', item: null },
    may: ['admin'] as const,
  })),
  { method: 'GET', path: '/api/configuration/connect', may: ['admin'] },
  { method: 'POST', path: '/api/configuration/connect/try', body: newSink, may: ['admin'] },
  { method: 'POST', path: '/api/configuration/connect/draft', body: { ...newSink, replaces: null }, may: ['admin'] },
  { method: 'POST', path: '/api/configuration/drafts/hooks/discard', body: { version: 1 }, may: ['operator', 'admin'] },
  { method: 'POST', path: '/api/configuration/drafts/hooks/apply', body: { version: 1 }, may: ['admin'] },
  { method: 'GET', path: '/api/configurations', may: ['operator', 'admin'] },
  { method: 'GET', path: '/api/configurations/1', may: ['admin'] },
  { method: 'GET', path: '/api/configurations/compare?from=1&to=2', may: ['admin'] },
  { method: 'POST', path: '/api/configurations/1/restore', body: {}, may: ['admin'] },
  { method: 'POST', path: '/api/configuration/apply', body: { file: '/etc/pigeonpost.yaml' }, may: ['admin'] },
  ...['/api/imports/target?pigeonhole=acme/101', '/api/imports/7/report', '/api/import-mappings'].map((path) => ({
    method: 'GET',
    path,
    may: ['importer', 'admin'] as const,
  })),
  ...['/api/imports/check', '/api/imports/codes', '/api/imports'].map((path) => ({
    method: 'POST',
    path: `${path}?pigeonhole=acme/101&name=people.csv`,
    body: {},
    may: ['importer', 'admin'] as const,
  })),
  { method: 'POST', path: '/api/imports/7/actions', body: { do: 'pause' }, may: ['importer', 'admin'] },
  { method: 'POST', path: '/api/events/plan', body: event, may: ['operator', 'admin'] },
  { method: 'POST', path: '/api/events/apply', body: event, may: ['operator', 'admin'] },
  { method: 'GET', path: '/api/alerts', may: reading },
  { method: 'POST', path: '/api/alerts/test', body: {}, may: ['operator', 'admin'] },
  { method: 'POST', path: '/api/sinks/hooks/test', body: {}, may: ['operator', 'admin'] },
  { method: 'POST', path: '/api/sinks/hooks/audits', body: { pigeonhole: null }, may: ['operator', 'admin'] },
  { method: 'POST', path: '/api/sinks/hooks/repairs', body: repair, may: ['operator', 'admin'] },
  ...['/api/erasures', `/api/erasures/${uuid}`, '/api/forgotten'].map((path) => ({
    method: 'GET',
    path,
    may: ['privacy', 'admin'] as const,
  })),
  { method: 'POST', path: '/api/erasures/plan', body: { attendee: 'id:1' }, may: ['privacy', 'admin'] },
  { method: 'POST', path: '/api/erasures', body: { id: uuid, attendee: 'id:1' }, may: ['privacy', 'admin'] },
  { method: 'POST', path: `/api/erasures/${uuid}/lift`, body: {}, may: ['privacy', 'admin'] },
  { method: 'POST', path: '/api/persons/export', body: { attendee: 'id:1' }, may: ['privacy', 'admin'] },
  { method: 'GET', path: '/api/persons/acme/101/1', may: ['privacy', 'admin'] },
  { method: 'GET', path: '/api/tokens', may: ['admin'] },
  { method: 'POST', path: '/api/tokens', body: { name: 'x', roles: ['viewer'], expiresInDays: 1 }, may: ['admin'] },
  { method: 'POST', path: '/api/tokens/x/revoke', body: {}, may: ['admin'] },
  { method: 'POST', path: '/api/page-codes', body: {}, may: reading },
  { method: 'POST', path: '/api/sign-out', body: {}, may: reading },
  { method: 'GET', path: '/api/audit', may: ['admin'] },
  { method: 'GET', path: '/api/backup', may: ['admin'] },
  { method: 'GET', path: '/api/exports/acme/101?format=csv&sheets=attendees', may: reading },
  { method: 'GET', path: '/api/exports/acme/101?format=xlsx&personal=1', may: ['privacy', 'admin'] },
  { method: 'GET', path: '/api/dead-letters/file?sink=hooks&format=csv', may: reading },
  { method: 'GET', path: '/api/exports/acme/101?format=csv&sheets=import-rows', may: ['importer', 'admin'] },
];

const notKnown = async (): Promise<never> => await Promise.reject(new ImportRefusal('unknown', 'it is not known'));
const emptyEvent: EventView = {
  workspace: 'acme',
  event: 'summit',
  timezone: 'UTC',
  subscription: null,
  objects: [],
  problems: [],
  warnings: [],
  hindrance: null,
  nextInMs: null,
};

async function open(
  kind: (typeof kinds)[number],
  server = config.server,
  given: Partial<ApiSources> = {},
): Promise<{ app: ApiApp; ledger: Ledger; acted: string[] }> {
  const ledger = await openLedger(databases.of(kind), testKey);
  await ledger.db.script('truncate tokens, audit');
  const acted: string[] = [];
  const app = createApp(
    apiSources({
      ledger,
      config: { ...config, server },
      act: async ({ name, by }) => {
        acted.push(`${name} by ${by}`);
        return 'done';
      },
      imports: deskOf({
        target: notKnown,
        check: notKnown,
        async *generatedCodes() {
          yield 'row,code\r\n';
        },
        start: notKnown,
        list: async () => [],
        find: async () => undefined,
        mappings: async () => [],
      }),
      lookAtEvent: async () => emptyEvent,
      applyEvent: async () => emptyEvent,
      preview: async () => ({ items: [], more: false, counts: [], problems: [], notes: [], names: new Set<string>() }),
      testSink: async () => ({ delivered: true, detail: null }),
      replay: async ({ id }) => ({ id, dryRun: true, counts: [], problems: [], notes: [], names: new Set<string>() }),
      planConfiguration: async () => planOf({ current: 1 }),
      applyConfiguration: async () => ({ number: 1, changed: false, plan: planOf({ current: 1 }) }),
      ...given,
    }),
  );
  return { app, ledger, acted };
}

async function tokenWith(
  ledger: Ledger,
  name: string,
  given: readonly Role[],
  { workspace = null, expiresAt = null }: { workspace?: string | null; expiresAt?: Date | null } = {},
): Promise<string> {
  const { id, hash, text } = makeToken();
  expect(await addToken(ledger, { id, name, hash, roles: given, workspace, createdBy: 'a test', expiresAt })).toBe(
    true,
  );
  return text;
}

async function ask(
  app: ApiApp,
  { method, path, body }: Omit<Asked, 'may'>,
  token?: string,
): Promise<{ status: number; text: string; headers: Headers }> {
  const headers = { ...fromHere, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) };
  const isUpload = /^\/api\/imports(\/check|\/codes)?\?/.test(path);
  const answer = await app.request(path, {
    method,
    headers: isUpload ? { ...headers, 'content-type': 'application/octet-stream' } : headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.status, text: await answer.text(), headers: answer.headers };
}

const status = { method: 'GET', path: '/api/status' };
const pauseHooks = {
  method: 'POST',
  path: '/api/actions',
  body: { do: 'pause', kind: 'sink', name: 'hooks', by: 'another person' },
};

describe.each([anyStore])('access to the API, on %s', (kind) => {
  it('is specified here for every route', async () => {
    const { app } = await open(kind);
    const described = app.openAPIRegistry.definitions.flatMap((each) =>
      each.type === 'route' ? [`${each.route.method} ${each.route.path}`] : [],
    );
    const covered = described.filter((each) => {
      const [method, path] = each.split(' ');
      const pattern = new RegExp(`^${path!.replace(/\{\w+\}/g, '[^/]+')}$`);
      return routes.some(
        (route) =>
          (route.method === 'HEAD' ? 'get' : route.method.toLowerCase()) === method &&
          pattern.test(route.path.split('?')[0]!),
      );
    });
    expect(covered).toEqual(described);
  });

  it.each(roles)('for the role %s matches the table', async (role) => {
    const { app, ledger } = await open(kind);
    const token = await tokenWith(ledger, role, [role]);
    for (const route of routes) {
      const { status: found } = await ask(app, route, token);
      expect([route.method, route.path, found === 403, found >= 500]).toEqual([
        route.method,
        route.path,
        !route.may.includes(role),
        false,
      ]);
    }
  });

  it('is refused at every route without a token and with an invalid, expired or revoked token', async () => {
    const { app, ledger } = await open(kind);
    const expired = await tokenWith(ledger, 'expired', ['admin'], { expiresAt: new Date(Date.now() - 1000) });
    const revoked = await tokenWith(ledger, 'revoked', ['admin']);
    expect((await ask(app, status, revoked)).status).toBe(200);
    expect((await ask(app, { method: 'POST', path: '/api/tokens/revoked/revoke', body: {} }, serverToken)).status).toBe(
      200,
    );
    const good = await tokenWith(ledger, 'good', ['admin']);
    const wrong = `${good.slice(0, -1)}${good.endsWith('A') ? 'B' : 'A'}`;
    for (const route of routes) {
      for (const token of [undefined, wrong, expired, revoked, good.slice(3), 'pp_', `${serverToken}x`, '"><script>']) {
        const answer = await ask(app, route, token);
        expect([route.path, token?.slice(0, 4), answer.status]).toEqual([route.path, token?.slice(0, 4), 401]);
        expect(answer.text).not.toContain(token ?? 'Bearer pp_');
      }
    }
    const told = await ask(app, status, expired);
    expect(JSON.parse(told.text)).toMatchObject({ detail: 'this token has expired: ask for another one' });
    expect(told.headers.get('www-authenticate')).toContain('Bearer');
  });

  it('with a token of one workspace is limited to this workspace', async () => {
    const { app, ledger, acted } = await open(kind);
    const own = await tokenWith(ledger, 'own', ['admin'], { workspace: 'acme' });
    const refused = [
      ...routes.filter(({ path }) => /tokens|audit$|configuration|events/.test(path)),
      { method: 'GET', path: '/api/pigeonholes/other/101' },
      { method: 'GET', path: '/api/pigeonholes?workspace=other' },
      { method: 'GET', path: '/api/items/other/101/attendees' },
      { method: 'GET', path: '/api/dead-letters?workspace=other' },
      { method: 'GET', path: '/api/dead-letters/file?sink=shared&format=csv&pigeonhole=other/101' },
      { method: 'HEAD', path: '/api/changes/live?workspace=other' },
      { method: 'HEAD', path: '/api/changes/live?pigeonhole=other/101' },
      { method: 'POST', path: '/api/replays', body: { ...everything, id: uuid } },
      { method: 'POST', path: '/api/replays', body: { ...everything, id: uuid, pigeonhole: 'other/101' } },
      { method: 'POST', path: '/api/dead-letters/redrive', body: { workspace: 'other' } },
      { method: 'POST', path: '/api/dead-letters/redrive', body: { pigeonhole: 'other/101' } },
      { method: 'GET', path: '/api/imports/target?pigeonhole=other/101' },
      { method: 'POST', path: '/api/imports?pigeonhole=other/101&name=people.csv', body: {} },
      { method: 'POST', path: '/api/actions', body: { do: 'pause', kind: 'workspace', name: 'other' } },
      { method: 'POST', path: '/api/actions', body: { do: 'pause', kind: 'pigeonhole', name: 'other/101' } },
      { method: 'POST', path: '/api/actions', body: { do: 'pause', kind: 'sink', name: 'shared' } },
      { method: 'POST', path: '/api/actions', body: { do: 'pause', kind: 'sink', name: 'theirs' } },
      { method: 'POST', path: '/api/preview', body: { ...preview, sink: 'shared', pigeonhole: null } },
      { method: 'POST', path: '/api/sinks/shared/audits', body: { pigeonhole: null } },
      { method: 'POST', path: '/api/sinks/shared/audits', body: { pigeonhole: 'other/101' } },
      { method: 'POST', path: '/api/sinks/shared/repairs', body: repair },
      { method: 'GET', path: '/api/sinks/shared/parity?pigeonhole=other/101' },
      { method: 'GET', path: '/api/pigeonholes/other/101/story' },
      { method: 'GET', path: '/api/persons/other/101/1' },
      { method: 'POST', path: '/api/persons/export', body: { attendee: 'id:1', workspace: 'other' } },
      { method: 'POST', path: '/api/erasures/plan', body: { attendee: 'id:1', workspace: 'other' } },
    ];
    for (const route of refused) {
      const { status: found } = await ask(app, route, own);
      expect([route, found]).toEqual([route, 403]);
    }
    expect(acted).toEqual([]);
    expect((await ask(app, { method: 'GET', path: '/api/sinks/theirs' }, own)).status).toBe(404);
    const { workspaces, sinks } = JSON.parse((await ask(app, status, own)).text) as Record<
      'workspaces' | 'sinks',
      { name: string }[]
    >;
    expect([workspaces, sinks].map((each) => each.map(({ name }) => name))).toEqual([['acme'], ['hooks', 'shared']]);
    expect((await ask(app, pauseHooks, own)).status).toBe(200);
  });

  it('with a token of one workspace does not show that a person of another workspace was forgotten, but shows its own', async () => {
    const { app, ledger } = await open(kind);
    const id = randomUUID();
    const asked = `${id}@example.com`;
    const places = [{ pigeonholeNumber: 1, workspace: 'other', pigeonholeId: 101, attendeeIds: [1], codes: [] }];
    await requestErasure(ledger, { id, names: { asked, places }, by: null, reason: null, sharing: 0 });
    const statusesFor = async (workspace: string): Promise<number[]> => {
      const token = await tokenWith(ledger, `forgets-${workspace}`, ['privacy'], { workspace });
      const plan = { method: 'POST', path: '/api/erasures/plan', body: { attendee: asked } };
      const request = { method: 'POST', path: '/api/erasures', body: { attendee: asked, id } };
      const show = { method: 'GET', path: `/api/erasures/${id}` };
      return await Promise.all([plan, request, show].map(async (each) => (await ask(app, each, token)).status));
    };
    expect([await statusesFor('acme'), await statusesFor('other')]).toEqual([
      [404, 404, 404],
      [200, 200, 200],
    ]);
    const second = randomUUID(); // waits for the first, which is open
    await requestErasure(ledger, { id: second, names: { asked, places }, by: null, reason: null, sharing: 0 });
    expect([
      (await readErasure(ledger, second, 'acme')) === undefined,
      (await readErasure(ledger, second, 'other')) === undefined,
    ]).toEqual([true, false]);
  });
});

describe.each(kinds)('the audit log, on %s', (kind) => {
  it('records each change with the token that requested it and the result', async () => {
    const { app, ledger, acted } = await open(kind);
    const token = await tokenWith(ledger, 'on-duty', ['operator']);
    await ask(app, pauseHooks, token);
    await ask(app, { method: 'POST', path: '/api/deletions/7', body: { decision: 'confirmed', items: 1 } }, token);
    await ask(
      app,
      { method: 'POST', path: '/api/tokens', body: { name: 'y', roles: ['admin'], expiresInDays: null } },
      token,
    );
    await ask(app, status, token);
    expect(acted).toEqual(['hooks by on-duty']); // regardless of the name in the request
    const { items } = JSON.parse((await ask(app, { method: 'GET', path: '/api/audit' }, serverToken)).text) as {
      items: Record<string, unknown>[];
    };
    expect(
      items.map(({ who, action, target, outcome, status: ended }) => [who, action, target, outcome, ended]),
    ).toEqual([
      ['on-duty', 'POST /api/tokens', null, 'refused', 403],
      ['on-duty', 'pause', 'sink:hooks', 'done', 200],
    ]);
  });

  it('records a test message that was not delivered as failed', async () => {
    const refused = { delivered: false, detail: 'invalid_auth' };
    const { app, ledger } = await open(kind, config.server, {
      testSink: async () => refused,
      alerts: {
        view: async () => ({ raised: [], receivers: [], when: [] }),
        receiverNames: async () => new Map(),
        test: async () => [{ receiver: 'slack', ...refused }],
      },
    });
    for (const path of ['/api/alerts/test', '/api/sinks/hooks/test']) {
      expect((await ask(app, { method: 'POST', path, body: {} }, serverToken)).status).toBe(200);
    }
    const rows = await ledger.db.query('select outcome, status from audit where asked is not null order by number');
    expect(rows).toEqual(Array(2).fill({ outcome: 'failed', status: 200 }));
  });

  it.each([
    [
      'refused because of its workspace',
      { method: 'POST', path: '/api/actions', body: { do: 'pause', kind: 'workspace', name: 'other' } },
      403,
    ],
    [
      'refused because the name does not exist',
      { method: 'POST', path: '/api/erasures/plan', body: { attendee: 'id:1' } },
      404,
    ],
    ['done without a lasting change', { method: 'POST', path: '/api/page-codes', body: {} }, 200],
  ])('has a limited number of lines for a request that one token repeats and that is %s', async (_, request, first) => {
    const { app, ledger } = await open(kind);
    const token = await tokenWith(ledger, 'own', ['operator', 'privacy'], { workspace: 'acme' });
    const statuses = new Set<number>();
    for (let n = 0; n < 150; n += 1) statuses.add((await ask(app, request, token)).status);
    expect([...statuses]).toEqual(first === 403 ? [403] : [first, 429]);
    const [row] = await ledger.db.query<{ n: number }>('select count(*)::int as n from audit');
    expect(row!.n).toBeLessThanOrEqual(240);
    expect((await ask(app, pauseHooks, token)).status).toBe(200); // other actions of the same token still work
  });

  it('cannot be changed', async () => {
    const { app, ledger } = await open(kind);
    await ask(app, pauseHooks, serverToken);
    await expect(ledger.db.query("update audit set who = 'nobody'")).rejects.toThrow();
    await expect(ledger.db.query('delete from audit')).rejects.toThrow();
    const [row] = await ledger.db.query<{ n: number }>(
      "select count(*)::int as n from audit where who = 'server.token'",
    );
    expect(row!.n).toBe(1);
  });
});

describe.each([anyStore])('a token, on %s', (kind) => {
  it('is shown once, stored as a hash, and accepted until it is revoked', async () => {
    const { app, ledger } = await open(kind);
    const body = { name: 'page', roles: ['viewer', 'privacy'], workspace: 'acme', expiresInDays: 30 };
    const made = await ask(app, { method: 'POST', path: '/api/tokens', body }, serverToken);
    const { token } = JSON.parse(made.text) as { token: string };
    await ask(app, { method: 'POST', path: '/api/tokens', body: { ...body, name: 'unused' } }, serverToken);
    expect((await ask(app, { method: 'POST', path: '/api/tokens', body }, serverToken)).status).toBe(409);
    expect(JSON.parse((await ask(app, { method: 'GET', path: '/api/caller' }, token)).text)).toEqual({
      name: 'page',
      roles: ['viewer', 'privacy'],
      rights: ['read', 'personal', 'erase'],
      workspace: 'acme',
    });
    const stored = JSON.stringify(await ledger.db.query('select * from tokens'));
    const audit = JSON.stringify(await ledger.db.query('select * from audit'));
    const secret = token.split('_').slice(2).join('_'); // the secret may contain the separator itself
    for (const text of [stored, audit]) expect(text).not.toContain(secret);
    const list = (await ask(app, { method: 'GET', path: '/api/tokens' }, serverToken)).text;
    expect(list).not.toContain(secret);
    const lastUsedAt = { page: expect.stringMatching(/^20/), unused: null };
    const listed = JSON.parse(list) as { tokens: { name: string; lastUsedAt: string | null }[] };
    expect(Object.fromEntries(listed.tokens.map((each) => [each.name, each.lastUsedAt]))).toEqual(lastUsedAt);
    await ask(app, { method: 'POST', path: '/api/tokens/page/revoke', body: {} }, serverToken);
    expect((await ask(app, { method: 'GET', path: '/api/caller' }, token)).status).toBe(401);
    expect((await ask(app, { method: 'POST', path: '/api/tokens', body }, serverToken)).status).toBe(200);
  });

  it.each([
    [
      'for a workspace that is not configured',
      { name: 'x', roles: ['viewer'], workspace: 'nowhere', expiresInDays: 1 },
      404,
    ],
    ['without a role', { name: 'x', roles: [], expiresInDays: 1 }, 400],
    ['with an unknown role', { name: 'x', roles: ['owner'], expiresInDays: 1 }, 400],
    ['with an invalid name', { name: '../x y', roles: ['viewer'], expiresInDays: 1 }, 400],
    [
      'with the name that the audit log uses for server.token',
      { name: 'server.token', roles: ['viewer'], expiresInDays: 1 },
      400,
    ],
    ['without an expiry', { name: 'x', roles: ['viewer'] }, 400],
  ])('%s is not created', async (_, body, expected) => {
    const { app } = await open(kind);
    expect((await ask(app, { method: 'POST', path: '/api/tokens', body }, serverToken)).status).toBe(expected);
  });
});

describe('a server on loopback without server.token', () => {
  const loopback = { host: '127.0.0.1', port: 8088, maxConnectionsPerAddress: 250 };

  it('rejects requests without a token, and gives its own token the rights of the administrator and a named token those of its roles', async () => {
    const { app, ledger, acted } = await open(anyStore, loopback);
    expect((await ask(app, pauseHooks)).status).toBe(401);
    expect((await ask(app, status, 'wrong')).status).toBe(401);
    expect(acted).toEqual([]);
    expect((await ask(app, pauseHooks, localToken)).status).toBe(200);
    expect(acted).toEqual(['hooks by another person']); // the administrator may act in the name of another person
    const viewer = await tokenWith(ledger, 'viewer', ['viewer']);
    expect((await ask(app, pauseHooks, viewer)).status).toBe(403);
  });

  it('accepts its own token beside server.token, and records each under its name', async () => {
    const { app } = await open(anyStore, { ...loopback, token: new Secret(serverToken) } as Config['server']);
    const nameOf = async (token: string): Promise<unknown> =>
      JSON.parse((await ask(app, { method: 'GET', path: '/api/caller' }, token)).text);
    expect(await nameOf(localToken)).toMatchObject({ name: 'local', roles: ['admin'] });
    expect(await nameOf(serverToken)).toMatchObject({ name: 'server.token', roles: ['admin'] });
  });

  it('allows only /metrics without a token, and only without a public address', async () => {
    const { app } = await open(anyStore, loopback);
    expect((await ask(app, { method: 'GET', path: '/metrics' })).status).toBe(200);
    const server = { ...loopback, publicUrl: 'https://desk.example.com' } as Config['server'];
    const { app: published } = await open(anyStore, server);
    expect((await ask(published, { method: 'GET', path: '/metrics' })).status).toBe(401);
  });
});
