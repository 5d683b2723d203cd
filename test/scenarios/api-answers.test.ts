import { apiSources, asLocalUser } from '../../api/api-sources.test-kit.js';
import type { ApiApp } from '../../api/api-app.js';
import { deskOf } from '../../importing/desk/desk.test-kit.js';
import { createApp } from '../../api/create-app.js';
import type { LiveChanges, LiveDeliveries } from '../../api/live-changes.js';
import { kinds } from '../kit/scenario-kinds.js';
import type { Activity } from '../../operations/activity.js';
import { noteProgress, trimProgress } from '../../reading/progress.js';
import { previewSink } from '../../operations/preview-sink.js';
import { checkReady } from '../../operations/ready/check-ready.js';
import { viewQuotas } from '../../operations/status-view.js';
import { attendee, pollVote, session } from '../kit/items.js';
import type { Scene } from '../kit/scene.js';
import { type Stage, useStages } from '../kit/stage.js';

const stages = useStages();
const environment = { SCENE_KEY: 'sandbox-key', HOOK_SECRET: `whsec_${Buffer.alloc(32, 7).toString('base64')}` };

/** Names and addresses of these people. */
const personal = /Person \d|example\.com|code-\d/;

interface Served {
  readonly stage: Stage;
  readonly scene: Scene;
  readonly app: ApiApp;
}

/** Serves three people and two votes: one person is rejected, one refused consent, and one vote is anonymous. */
async function served(kind: (typeof kinds)[number]): Promise<Served> {
  const stage = await stages.open(kind);
  await stage.put('sessions', session(1, { anonymousResponses: false }));
  await stage.put('attendees', attendee(1), attendee(2), attendee(3, { consent: { obtained: false } }));
  await stage.put(
    'poll-mcq-votes',
    pollVote(51, { id: 1, anonymous: false }, 1),
    pollVote(52, { id: 2, anonymous: true }, 1),
  );
  const scene = await stage.webhookScene('consent: { accept: [obtained] }');
  await stage.planAnswer({ status: 422, list: 'attendees', key: '2', count: 1 });
  await scene.settle();
  await noteProgress(scene.ledger);
  return { stage, scene, app: appOf(scene) };
}

function appOf({ deps }: Scene): ApiApp {
  const { ledger, config, configuration } = deps;
  return createApp(
    apiSources({
      ledger,
      config,
      configuration,
      quotas: () => viewQuotas(config, ledger, Date.now()),
      preview: (asked) => previewSink(deps, asked, environment),
      checkReady: (place) => checkReady(deps, place, Date.now()),
      imports: deskOf({ list: async () => [], mappings: async () => [] }),
      liveEveryMs: 5,
    }),
  );
}

async function ask(app: ApiApp, path: string, body?: object): Promise<{ status: number; body: any; text: string }> {
  const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
  const answer = await app.request(path, { headers: asLocalUser, ...sent });
  const text = await answer.text();
  return { status: answer.status, text, body: text === '' ? null : JSON.parse(text) };
}

/** Every readable address, each with data. The test below fails if an address is missing here. */
const readable = [
  '/api/status',
  '/api/overview',
  '/api/syncs',
  '/api/syncs/events',
  '/api/pigeonholes',
  '/api/pigeonholes/acme/101',
  '/api/pigeonholes/acme/101/streams',
  '/api/pigeonholes/acme/101/story',
  '/api/pigeonholes/101/ready?workspace=acme',
  '/api/pigeonholes/acme/101/statements',
  '/api/statement-key',
  '/api/sinks',
  '/api/sinks/hooks',
  '/api/sinks/hooks/lanes',
  '/api/sinks/hooks/activity?span=24h',
  '/api/pigeonholes/acme/101/activity',
  '/api/sinks/hooks/outcomes',
  '/api/sinks/hooks/parity',
  '/api/sinks/hooks/parity/findings',
  '/api/sinks/hooks/deliveries?pigeonhole=acme/101',
  '/api/dead-letters',
  '/api/dead-letters/items',
  '/api/dead-letters/plan?sink=hooks',
  '/api/deliveries?sink=hooks&state=dead',
  '/api/deliveries?sink=hooks&state=withheld',
  '/api/deliveries?sink=hooks&state=delivered',
  '/api/deliveries?sink=hooks&state=open',
  '/api/attempts?sink=hooks',
  '/api/attempts?sink=hooks&outcome=failed&since=2020-01-01T00:00:00Z',
  '/api/quota',
  '/api/quota/days',
  '/api/fields?list=attendees',
  '/api/items/acme/101/attendees',
  '/api/items/acme/101/attendees/1',
  '/api/why?list=attendees&key=1',
  '/api/deletions',
  '/api/erasures',
  '/api/forgotten',
  '/api/imports',
  '/api/import-mappings',
  '/api/alerts',
  '/api/incidents',
  '/api/tokens',
  '/api/audit',
  '/api/caller',
  '/api/configuration/connect',
  '/api/configuration/drafts',
];

/** Lists with the field that identifies an item. */
const longLists = [
  ['/api/items/acme/101/attendees', 'key'],
  ['/api/pigeonholes', 'id'],
  ['/api/sinks/hooks/lanes', 'pigeonholeId'],
  ['/api/sinks/hooks/deliveries?pigeonhole=acme/101', 'sequence'],
  ['/api/dead-letters/items', 'key'],
  ['/api/deliveries?sink=hooks&state=delivered', 'sequence'],
  ['/api/attempts?sink=hooks', 'number'],
  ['/api/pigeonholes/acme/101/streams', 'list'],
] as const;

/** Other tests cover these: they never end, return no JSON, or need a held deletion, an import or an erasure. */
const elsewhere = [
  '/api/changes/live',
  '/api/configuration/mappings/{sink}',
  '/api/attempts/{number}',
  '/api/backup',
  '/api/exports/{workspace}/{id}',
  '/api/dead-letters/file',
  '/api/deletions/{id}',
  '/api/erasures/{id}',
  '/api/persons/{workspace}/{id}/{attendee}',
  '/api/imports/target',
  '/api/imports/{id}',
  '/api/imports/{id}/report',
  '/api/configurations',
  '/api/configurations/compare',
  '/api/configurations/{number}',
  '/api/statements/{number}',
  '/api/statements/{number}/file',
];

describe.each(kinds)('the API over a ledger with data, on %s', (kind) => {
  it('shows by step what was found and delivered and what waits, and keeps it when older minutes are thinned', async () => {
    const { stage, scene, app } = await served(kind);
    const chart = async (path = '/api/sinks/hooks/activity') => (await ask(app, path)).body as Activity;
    const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
    const before = await chart();
    expect([before.found.length, before.waiting.at(-1), before.lagSeconds.at(-1)]).toEqual([60, 0, 0]);
    expect(sum(before.found)).toBeGreaterThanOrEqual(6);
    expect(sum(before.delivered)).toBeGreaterThan(0);
    await stage.db.query('update lanes set watermark = watermark - 2 where watermark > 2');
    await noteProgress(scene.ledger);
    expect((await chart()).waiting.at(-1)).toBeGreaterThanOrEqual(2);
    await stage.db.query(`update progress set minute = minute - interval '26 hours'`);
    await stage.db.query(
      `insert into progress (pigeonhole_number, sink_id, minute, total, settled)
       select pigeonhole_number, sink_id, date_bin('10 minutes', minute, 'epoch') - interval '1 minute', 0, settled from progress
       union all select pigeonhole_number, sink_id, date_bin('10 minutes', minute, 'epoch') - interval '2 minutes', 0, settled
         from progress`,
    );
    const [whole] = await stage.db.query<{ rows: number }>('select count(*)::int as rows from progress');
    const week = await chart('/api/sinks/hooks/activity?span=7d');
    await trimProgress(scene.ledger);
    const [thinned] = await stage.db.query<{ rows: number }>('select count(*)::int as rows from progress');
    expect(thinned!.rows).toBeLessThan(whole!.rows);
    expect((await chart('/api/sinks/hooks/activity?span=7d')).found).toEqual(week.found);
    expect(sum(week.found)).toBe(sum(before.found));
  });

  it('returns what the API description says at every readable address, without personal data', async () => {
    const { app } = await served(kind);
    const described = app.openAPIRegistry.definitions.flatMap((each) =>
      each.type === 'route' && each.route.method === 'get' ? [each.route] : [],
    );
    const looked: string[] = [];
    for (const path of readable) {
      const answer = await ask(app, path);
      expect([path, answer.status]).toEqual([path, 200]);
      expect([path, personal.exec(answer.text)]).toEqual([path, null]);
      const [route] = described
        .filter((each) => new RegExp(`^${each.path.replace(/\{\w+\}/g, '[^/]+')}$`).test(path.split('?')[0]!))
        .toSorted((a, b) => a.path.split('{').length - b.path.split('{').length) as [(typeof described)[number]];
      looked.push(route.path);
      const content = route.responses[200] as {
        content: { 'application/json': { schema: { parse(body: unknown): unknown } } };
      };
      const { schema } = content.content['application/json'];
      expect(schema.parse(answer.body)).toEqual(answer.body); // the schema would drop an undocumented field
    }
    expect(new Set([...looked, ...elsewhere])).toEqual(new Set(described.map(({ path }) => path)));
  });

  it('includes changes of the current minute whose totals are not stored yet', async () => {
    const { stage, scene, app } = await served(kind);
    const sums = async (): Promise<number[]> => {
      const { foundByMinute, deliveredByMinute } = (await ask(app, '/api/overview')).body;
      return [foundByMinute, deliveredByMinute].map((each: number[]) => each.reduce((sum, n) => sum + n));
    };
    const [found, delivered] = await sums();
    await stage.put('attendees', attendee(4));
    await stage.pollsAreDue();
    await scene.settle();
    expect(await sums()).toEqual([found! + 1, delivered! + 1]);
  });

  it('does not report a sink as behind if only changes that it no longer receives are missing', async () => {
    const { stage, scene, app } = await served(kind);
    await stage.put('attendees', attendee(4));
    await stage.pollsAreDue();
    await scene.discover();
    await scene.read({ workspace: 'acme', pigeonholeId: 101 });
    await stage.db.query(`update changes set found_at = found_at - interval '3 minutes'`);
    const behind = async (): Promise<boolean> =>
      (await ask(app, '/api/overview')).body.troubles.some(({ code }: { code: string }) => code === 'sink-behind');
    expect(await behind()).toBe(true);
    await stage.db.query('update selections set archived_at = now()');
    expect(await behind()).toBe(false);
    expect((await ask(app, '/api/sinks/hooks')).body).toMatchObject({ backlog: 0, undeliveredSince: null });
  });

  it('exports the dead letters of a sink, of all its pigeonholes or of one, and records it', async () => {
    const { app } = await served(kind);
    const exported = async (query: string) => {
      const answer = await app.request(`/api/dead-letters/file?format=csv&${query}`, { headers: asLocalUser });
      const text = await answer.text();
      expect(text).not.toMatch(personal);
      return { name: answer.headers.get('content-disposition'), lines: text.trim().split('\r\n') };
    };
    const { name, lines } = await exported('sink=hooks');
    expect(name).toBe('attachment; filename="hooks-dead-letters.csv"');
    expect(lines).toEqual([
      expect.stringMatching(/sink"?,"?pigeonhole"?,.*since \(UTC\)/) as string,
      expect.stringMatching(/^"hooks","acme\/101","attendees","'?2",1,"http:422",/) as string,
    ]);
    const ofEvent = await exported('sink=hooks&pigeonhole=acme/101&cause=http:422');
    expect(ofEvent.name).toBe('attachment; filename="acme-101-hooks-dead-letters.csv"');
    expect(ofEvent.lines).toEqual([
      expect.stringContaining('since (Asia/Singapore)') as string,
      expect.stringMatching(/^"hooks","acme\/101","attendees",/) as string,
    ]);
    for (const other of ['list=votes', 'cause=http:400']) {
      expect((await exported(`sink=hooks&${other}`)).lines).toEqual([lines[0]]);
    }
    for (const unknown of ['sink=hook', 'sink=hooks&pigeonhole=acme/999']) {
      expect((await ask(app, `/api/dead-letters/file?format=csv&${unknown}`)).status).toBe(404);
    }
    const { body } = await ask(app, '/api/audit?action=export&limit=2');
    expect(body.items).toMatchObject([
      { target: 'sink:hooks', detail: { sheets: 'dead-letters', pigeonhole: null, cause: 'http:400' } },
      { target: 'sink:hooks', detail: { sheets: 'dead-letters', pigeonhole: null, list: 'votes' } },
    ]);
  });

  it('neither counts nor redrives dead letters of a pigeonhole that left the configuration', async () => {
    const { stage, app } = await served(kind);
    const shown = async (): Promise<unknown[]> => {
      const [groups, items, sink, outcomes, lanes] = await Promise.all(
        [
          '/api/dead-letters',
          '/api/dead-letters/items',
          '/api/sinks/hooks',
          '/api/sinks/hooks/outcomes',
          '/api/sinks/hooks/lanes',
        ].map((path) => ask(app, path)),
      );
      const dead = outcomes!.body.outcomes.filter(({ state }: { state: string }) => state === 'dead');
      const ids = lanes!.body.items.map(({ pigeonholeId }: { pigeonholeId: number }) => pigeonholeId);
      return [groups!.body.groups.length, items!.body.items.length, sink!.body.dead, dead.length, ids.includes(101)];
    };
    expect(await shown()).toEqual([1, 1, { 'http:422': 1 }, 1, true]);
    await stage.db.query('update selections set archived_at = now()');
    expect(await shown()).toEqual([0, 0, {}, 0, false]);
    expect((await ask(app, '/api/dead-letters/redrive', {})).body).toEqual({ done: true, changes: 0 });
    await stage.db.query('update selections set archived_at = null');
    expect((await ask(app, '/api/dead-letters/redrive', {})).body).toEqual({ done: true, changes: 1 });
  });

  it('reports the state of each part and every problem with its solution', async () => {
    const { app } = await served(kind);
    const { body: overview } = await ask(app, '/api/overview');
    expect(overview.syncs).toMatchObject([
      { name: 'events', state: 'working', pigeonholes: 1, live: 1, sinks: ['hooks'] },
    ]);
    expect(overview.foundByMinute.reduce((sum: number, n: number) => sum + n)).toBeGreaterThanOrEqual(6);
    expect(overview.troubles).toMatchObject([
      { code: 'dead-letters', kind: 'sink', name: 'hooks', help: { see: '/api/dead-letters?sink=hooks' } },
    ]);
    const { body: sink } = await ask(app, '/api/sinks/hooks');
    expect(sink).toMatchObject({ backlog: 0, undeliveredSince: null, dead: { 'http:422': 1 }, syncs: ['events'] });
    const { body: outcomes } = await ask(app, '/api/sinks/hooks/outcomes');
    expect(outcomes.outcomes).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ list: 'attendees', state: 'dead', reason: 'http:422', changes: 1 }),
        expect.objectContaining({
          list: 'attendees',
          state: 'withheld',
          reason: 'consent-refused',
          words: 'the person refused consent',
          changes: 1,
        }),
      ]),
    );
    const { body: letters } = await ask(app, '/api/dead-letters');
    expect(letters.groups).toMatchObject([
      { cause: 'http:422', meaning: expect.any(String), help: expect.stringContaining('redrive') },
    ]);
    const { body: streams } = await ask(app, '/api/pigeonholes/acme/101/streams');
    expect(streams.items).toContainEqual(expect.objectContaining({ list: 'attendees', sessionId: null, failures: 0 }));
  });

  it('reports one backlog in the sink, its outcomes and its lanes, without lists that the sink does not accept', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1, { anonymousResponses: false }));
    await stage.put('attendees', attendee(1), attendee(2), attendee(3));
    await stage.put('poll-mcq-votes', pollVote(51, { id: 1, anonymous: false }, 1));
    const { url } = await stage.receiver();
    const other = `{ type: webhook, url: "${url}", secret: "\${HOOK_SECRET}", allowPrivateAddresses: true }`;
    const scene = await stage.webhookScene('lists: [attendees]', { sinks: { other } });
    const app = appOf(scene);
    const waiting = async (): Promise<number[]> => {
      const [sink, outcomes, lanes] = await Promise.all(
        ['', '/outcomes', '/lanes'].map(async (part) => (await ask(app, `/api/sinks/hooks${part}`)).body),
      );
      const sum = (numbers: number[]): number => numbers.reduce((total, n) => total + n, 0);
      type Counted = { state: string; changes: number; behind: number; open: number };
      return [
        sink.backlog,
        sum(
          outcomes.outcomes.filter(({ state }: Counted) => state === 'waiting').map(({ changes }: Counted) => changes),
        ),
        sum(lanes.items.map(({ behind, open }: Counted) => behind + open)),
      ];
    };
    await scene.settle();
    expect(await waiting()).toEqual([0, 0, 0]);
    await stage.put('attendees', attendee(4), attendee(5));
    await stage.put('poll-mcq-votes', pollVote(52, { id: 2, anonymous: false }, 1));
    await scene.ledger.db.query('update streams set due_at = now()');
    await scene.read({ workspace: 'acme', pigeonholeId: 101 });
    expect(await waiting()).toEqual([2, 2, 2]);
  });

  it('returns long lists page by page, each item once', async () => {
    const { app } = await served(kind);
    for (const [path, field] of longLists) {
      const whole = (await ask(app, path)).body.items as Record<string, unknown>[];
      const parts: Record<string, unknown>[] = [];
      let next: string | null = '';
      while (next !== null) {
        const after: string = next === '' ? '' : `&after=${next}`;
        const { body } = await ask(app, `${path}${path.includes('?') ? '&' : '?'}limit=1${after}`);
        parts.push(...body.items);
        next = body.next as string | null;
      }
      expect(whole.length).toBeGreaterThan(0);
      expect([path, parts.map((item) => item[field])]).toEqual([path, whole.map((item) => item[field])]);
    }
  });

  it('refuses a cursor that the API did not issue, without an internal error', async () => {
    const { app } = await served(kind);
    const forged = [[1e12], [1e12, 1e12], ['a\u0000'], ['a\u0000', 1], ['2026-02-30T10:00:00.000000Z', 1, 1, 1, 0], {}];
    const paths = [...longLists.map(([path]) => path), '/api/erasures', '/api/imports', '/api/audit'];
    for (const path of paths) {
      for (const values of forged) {
        const after = Buffer.from(JSON.stringify(values)).toString('base64url');
        const { status } = await ask(app, `${path}${path.includes('?') ? '&' : '?'}after=${after}`);
        const isLarger = path === '/api/audit' || path.startsWith('/api/attempts'); // their ids may be that large
        if (isLarger && forged.indexOf(values) === 0) expect(status).toBe(200);
        else expect([path, values, status]).toEqual([path, values, 400]);
      }
    }
  });

  it('refuses unknown pigeonholes, and accepts a known id with a leading zero', async () => {
    const { app } = await served(kind);
    const unknown = await ask(app, '/api/changes/live?pigeonhole=acme/999');
    expect([unknown.status, unknown.body.detail]).toEqual([404, expect.stringContaining('acme/999')]);
    const known = await follow(app, '/api/changes/live?pigeonhole=acme/0101&recent=2');
    expect((await known.next()).data.changes).toHaveLength(2);
    await known.end();
  });

  it('shows names only on request, and records a hash of the request in the audit log', async () => {
    const { app, scene } = await served(kind);
    const { body: item } = await ask(app, '/api/items/acme/101/attendees/1?personal=1');
    expect(item.data).toMatchObject({ Name: 'Person 1' });
    const { body: votes } = await ask(app, '/api/items/acme/101/poll-mcq-votes?personal=1');
    expect(votes.items.find(({ key }: { key: string }) => key === '52')).toMatchObject({
      visibility: 'anonymous',
      data: { attendee: { anonymous: true } },
    });
    const asked = {
      sink: 'hooks',
      list: 'attendees',
      pigeonhole: 'acme/101',
      key: '1',
      limit: 5,
      configuration: {},
      changedFrom: null,
    };
    const hidden = await ask(app, '/api/preview', asked);
    expect([hidden.status, hidden.body.items.length, personal.test(hidden.text)]).toEqual([200, 1, false]);
    expect((await ask(app, '/api/preview?personal=1', asked)).text).toContain('Person 1');

    const { body: audit, text } = await ask(app, '/api/audit');
    expect(audit.items.map(({ action, outcome, who }: Record<string, string>) => [action, outcome, who])).toEqual([
      ['preview-personal', 'done', 'local'],
      ['list-personal', 'done', 'local'],
      ['show-personal', 'done', 'local'],
    ]);
    expect(text).not.toMatch(personal);
    const [row] = await scene.ledger.db.query<{ subject: Buffer }>(
      "select subject from audit where action = 'show-personal'",
    );
    expect(row!.subject.equals(scene.ledger.hash.subject('acme', 1, 'named'))).toBe(true);
  });

  it('returns changes from where a reader stopped, each once and without content', async () => {
    const { app, stage, scene } = await served(kind);
    const first = await follow(app, '/api/changes/live?pigeonhole=acme/101&recent=2');
    const begun = await first.next();
    expect(begun.data.changes).toHaveLength(2);
    await stage.patch('attendees', 1, { Name: 'Person 11' });
    await stage.pollsAreDue();
    await scene.settle();
    const changed = await first.next();
    await first.end();
    expect(changed.data.changes).toMatchObject([{ list: 'attendees', key: '1', kind: 'updated', revision: 2 }]);
    expect(JSON.stringify(changed.data)).not.toMatch(personal);

    await stage.patch('attendees', 2, { Name: 'Person 22' });
    await stage.pollsAreDue();
    await scene.settle();
    const again = await follow(app, '/api/changes/live?pigeonhole=acme/101&personal=1', changed.id);
    const missed = await again.next();
    await again.end();
    expect(missed.data.changes).toMatchObject([{ key: '2', revision: 2, data: { Name: 'Person 22' } }]);
    expect((await ask(app, '/api/audit?action=follow-personal')).body.items).toHaveLength(1);
  });

  it('says what the sinks have of each change, also to a reader that continues, and without content', async () => {
    const { app, stage, scene } = await served(kind);
    const first = await follow(app, '/api/changes/live?pigeonhole=acme/101');
    await first.next();
    await stage.patch('attendees', 1, { Name: 'Person 11' });
    await stage.pollsAreDue();
    await scene.read({ workspace: 'acme', pigeonholeId: 101 });
    const { id, data } = await first.next();
    const { sequence } = data.changes[0]!;
    expect(await first.untilSink(sequence, 'waits')).toMatchObject({ sink: 'hooks' });
    await first.end();
    await scene.settle();
    const again = await follow(app, '/api/changes/live?pigeonhole=acme/101', id);
    expect(await again.untilSink(sequence, 'has')).toEqual({ sink: 'hooks', state: 'has', words: null });
    await again.end();
  });

  it('returns the changes after a restore to a reader that had seen later ones', async () => {
    const { app, stage, scene } = await served(kind);
    const first = await follow(app, '/api/changes/live?pigeonhole=acme/101');
    const { id } = await first.next();
    await first.end();
    const [pigeonholeNumber, head] = id.split('-') as [string, string];
    const later = `${pigeonholeNumber}-${(parseInt(head, 36) + 100).toString(36)}`;
    const again = await follow(app, '/api/changes/live?pigeonhole=acme/101', later);
    await stage.patch('attendees', 1, { Name: 'Person 11' });
    await stage.pollsAreDue();
    await scene.settle();
    expect((await again.next()).data.changes).toMatchObject([{ key: '1', revision: 2 }]);
    await again.end();
  });

  it('returns each of many changes once, even if the clock was set back between them', async () => {
    const { app, stage, scene } = await served(kind);
    const first = await follow(app, '/api/changes/live?pigeonhole=acme/101');
    const { id } = await first.next();
    await first.end();
    await stage.put('attendees', ...Array.from({ length: 300 }, (_, n) => attendee(1000 + n)));
    await stage.pollsAreDue();
    await scene.settle();
    await scene.ledger.db.query(
      `update changes set found_at = found_at + interval '1 hour'
       where list = 'attendees' and key >= '1000' and key < '1100' and length(key) = 4`,
    );
    const again = await follow(app, '/api/changes/live?pigeonhole=acme/101&list=attendees', id);
    const keys = [await again.next(), await again.next()].flatMap(({ data }) => data.changes.map(({ key }) => key));
    await again.end();
    expect([keys.length, new Set(keys).size]).toEqual([300, 300]);
  });
});

interface Followed {
  next(): Promise<{ id: string; data: LiveChanges }>;
  /** Waits until a sink has this state for a change. */
  untilSink(sequence: number, state: string): Promise<LiveDeliveries['deliveries'][number]['sinks'][number]>;
  end(): Promise<void>;
}

async function follow(app: ApiApp, path: string, lastEventId?: string): Promise<Followed> {
  const headers = { ...asLocalUser, ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }) };
  const answer = await app.request(path, { headers });
  expect(answer.headers.get('content-type')).toBe('text/event-stream');
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  /** Returns the next event of this form. Those before it are left out. */
  const next = async (form: RegExp): Promise<RegExpExecArray> => {
    for (;;) {
      const event = form.exec(text);
      if (event !== null) {
        text = text.slice(event.index + event[0].length);
        return event;
      }
      const { value, done } = await reader.read();
      if (done) throw new Error('the stream has ended');
      text += value;
    }
  };
  return {
    async next() {
      const [, id, data] = await next(/event: changes\nid: (\S+)\ndata: (.*)\n\n/);
      return { id: id!, data: JSON.parse(data!) as LiveChanges };
    },
    async untilSink(sequence, state) {
      for (;;) {
        const [, data] = await next(/event: deliveries\ndata: (.*)\n\n/);
        expect(data).not.toMatch(personal);
        const { deliveries } = JSON.parse(data!) as LiveDeliveries;
        const own = deliveries.find((each) => each.sequence === sequence)?.sinks ?? [];
        const found = own.find((each) => each.state === state);
        if (found !== undefined) return found;
      }
    },
    end: () => reader.cancel(),
  };
}
