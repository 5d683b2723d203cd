import { handleRequest } from '../../operations/handle-request.js';
import { apiSources, asLocalUser } from '../../api/api-sources.test-kit.js';
import { createApp } from '../../api/create-app.js';
import type { ReadyCheck } from '../../operations/ready/readiness.js';
import { endCanaryLeases } from '../../delivering/canaries.js';
import type { Sink } from '../../sinks/sink.js';
import { sendCanaries, withdrawCanaries } from '../../operations/canary/send-canaries.js';
import { checkReady } from '../../operations/ready/check-ready.js';
import { attendee, qnaQuestion, session } from '../kit/items.js';
import { kinds } from '../kit/scenario-kinds.js';
import type { Scene } from '../kit/scene.js';
import { everyone, type Stage, useStages } from '../kit/stage.js';
import { openVendorDoubles, type VendorDoubles } from '../kit/vendor-doubles.js';

const stages = useStages();
const place = { workspace: 'acme', pigeonholeId: 101 };

let doubles: VendorDoubles | undefined;
afterEach(async () => {
  await doubles?.close();
  doubles = undefined;
});

async function fly(
  { to }: Scene,
  names: readonly string[] = [...to.sinks.keys()],
): Promise<Record<string, ReadyCheck>> {
  const lines = await sendCanaries(to, place, names);
  return Object.fromEntries(lines.map((line) => [line.id.replace('canary:', ''), line]));
}

const statesOf = (lines: Readonly<Record<string, ReadyCheck>>): Record<string, string> =>
  Object.fromEntries(Object.entries(lines).map(([name, { state }]) => [name, state]));

/** All of the ledger that deliveries, reading and counting go by. */
async function ledgerOf({ db }: Stage): Promise<string> {
  const tables = ['items', 'changes', 'deliveries', 'sink_objects', 'lanes', 'streams', 'sinks', 'pigeonholes'];
  const held = await Promise.all(
    tables.map(async (table) => [table, await db.query(`select t::text as row from ${table} t order by 1`)]),
  );
  return JSON.stringify(held);
}

/** Ends as a process does that is killed when its sinks have sent, and before it says so. */
function dying(sink: Sink, isDying: () => boolean): Sink {
  return {
    ...sink,
    async send(...given) {
      const result = await sink.send(...given);
      if (isDying()) throw new Error('the process is gone');
      return result;
    },
  };
}

/** Slack is asked for a message whose answer was lost no sooner than a minute after it was posted. */
async function aMinuteHasPassed({ db }: Stage): Promise<void> {
  for (const { number, memory } of await db.query<{ number: number; memory: string }>(
    'select number, memory from canaries',
  )) {
    const earlier = memory.replaceAll(
      /"(atMs|sinceMs)":(\d+)/g,
      (_, name: string, ms: string) => `"${name}":${Number(ms) - 61_000}`,
    );
    await db.query('update canaries set memory = $2 where number = $1', [number, earlier]);
  }
}

describe.each(kinds)('canaries, on %s', (kind) => {
  it('go through a sink of every kind and back, leave what their lines say, and the ledger as it was', async () => {
    doubles = await openVendorDoubles();
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1, { anonymousResponses: false }));
    await stage.put('attendees', attendee(1));
    await stage.put('qna-questions', qnaQuestion(1, { id: 1, anonymous: false }, 1));
    let isDying = false;
    const scene = await stage.webhookScene(everyone, {
      ...doubles.options,
      openSinks: (made) =>
        new Map([...made].map(([name, open]) => [name, { ...open, sink: dying(open.sink, () => isDying) }])),
    });
    await scene.settle();
    const before = await doubles.held(scene);
    const ledger = await ledgerOf(stage);
    const received = stage.received().length;

    const lines = await fly(scene);
    expect(statesOf(lines)).toEqual({
      hooks: 'ok',
      crm: 'ok',
      salesforce: 'ok',
      talk: 'ok',
      lms: 'ok',
      grades: 'warning', // it knows no invented student
      archive: 'ok',
    });
    expect(lines['grades']!.says).toContain('nothing was written (Canvas has no such student');
    expect(lines['hooks']!.says).toMatch(
      /^"pigeonpost canary \d{15}" \(attendees\) was sent \(HTTP 204\) and taken back/,
    );
    expect(lines['talk']!.says).toMatch(
      /\(qna-questions\) was sent \(.*request double-\d+\) and taken back \(2 messages/,
    );
    const after = await doubles.held(scene);
    for (const name of ['salesforce', 'talk', 'grades', 'archive']) {
      expect([name, after[name]]).toEqual([name, before[name]]);
    }
    const participation = /,?\{"event":"101","contactId":"502","state":"CANCELLED"[^}]*\}/;
    expect(after['crm']).toMatch(participation);
    expect(after['crm']!.replace(participation, '')).toBe(before['crm']);
    expect(after['lms']).toMatch(/"canary-\d{15}".*"voidedBy":"/);
    const [created, deleted, ...more] = stage.received().slice(received);
    expect([created?.change, deleted?.change, more]).toMatchObject([
      {
        type: 'attendees.created',
        revision: 1,
        pigeonholeId: 101,
        data: { Email: expect.stringMatching(/^pigeonpost-canary-\d+@example\.com$/) },
      },
      { type: 'attendees.deleted', revision: 2, data: null },
      [],
    ]);
    expect(created!.key).toBe(deleted!.key);
    expect(await ledgerOf(stage)).toBe(ledger);

    // Its process dies when it has sent, and another one takes over.
    isDying = true;
    expect(new Set(Object.values(statesOf(await fly(scene))))).toEqual(new Set(['unknown']));
    isDying = false;
    const meanwhile = await doubles.held(scene);
    for (const name of ['crm', 'salesforce', 'talk', 'lms', 'archive']) expect(meanwhile[name]).not.toBe(after[name]);
    await aMinuteHasPassed(stage);
    await withdrawCanaries(scene.to, null);
    const afterDeath = await doubles.held(scene);
    for (const name of ['salesforce', 'talk', 'grades', 'archive']) {
      expect([name, afterDeath[name]]).toEqual([name, before[name]]);
    }
    const cancelled = /,?\{"event":"101","contactId":"50[2-9]","state":"CANCELLED"[^}]*\}/g;
    expect(afterDeath['crm']!.replaceAll(cancelled, '')).toBe(before['crm']);
    expect(afterDeath['lms']!.match(/"voidedBy":"/g)).toHaveLength(2);
    expect(
      stage
        .received()
        .slice(received + 2)
        .map(({ type }) => type),
    ).toEqual(['attendees.created', 'attendees.deleted']);
    expect(await stage.db.query(`select sink, state from canaries where state <> 'settled'`)).toEqual([]);
    expect(await ledgerOf(stage)).toBe(ledger);

    // Vendors that take nothing.
    doubles.talk.workspace.channels.get('C0123456789')!.isArchived = true;
    doubles.lms.revoke('lrs-key');
    const refused = await fly(scene, ['talk', 'lms']);
    expect(statesOf(refused)).toEqual({ talk: 'failed', lms: 'failed' });
    expect(refused['talk']!.says).toMatch(/is_archived/);
    expect((await doubles.held(scene))['talk']).toBe(before['talk']);
    expect(scene.logText()).not.toMatch(/example\.com|canary-\d/);
  });

  it('are asked for by an operator, refused where nothing goes, not sent where it is paused, and audited', async () => {
    const stage = await stages.open(kind);
    const scene = await stage.webhookScene();
    await scene.settle();
    const { ledger, config, configuration } = scene.to;
    const app = createApp(
      apiSources({
        ledger,
        config,
        configuration,
        sendCanaries: (at, names) => sendCanaries(scene.to, at, names),
        checkReady: (at) => checkReady(scene.to, at, Date.now()),
      }),
    );
    const ask = async (sinks: readonly string[], path = '/api/pigeonholes/101/canaries') => {
      const answer = await app.request(path, { method: 'POST', headers: asLocalUser, body: JSON.stringify({ sinks }) });
      return { status: answer.status, body: (await answer.json()) as { canaries: ReadyCheck[]; detail: string } };
    };
    expect(await ask(['crm'])).toMatchObject({ status: 404, body: { detail: expect.stringContaining('sink crm') } });
    expect(await ask(['hooks'], '/api/pigeonholes/102/canaries')).toMatchObject({ status: 404 });
    expect(await ask([])).toMatchObject({ status: 400 });

    await stage.planAnswer({ status: 422, list: 'attendees', count: 1 });
    const { body } = await ask(['hooks']);
    expect(body.canaries).toMatchObject([
      { id: 'canary:hooks', state: 'failed', says: expect.stringMatching(/was refused: .* \(HTTP 422\)$/) },
    ]);

    // The receiver is away when the canary is to be taken back: the list says so until it is gone.
    await stage.planAnswer({ status: 204, list: 'attendees', count: 1 });
    await stage.planAnswer({ status: 503, list: 'attendees', count: 100 });
    const { body: halfway } = await ask(['hooks']);
    expect(halfway.canaries).toMatchObject([
      { state: 'warning', says: expect.stringContaining('is not taken back yet') },
    ]);
    expect((await ask(['hooks'])).body.canaries).toMatchObject([
      { state: 'warning', says: expect.stringContaining('an earlier canary is not taken back yet') },
    ]);
    const left = async (): Promise<ReadyCheck[]> => {
      const answer = await app.request('/api/pigeonholes/101/ready', { headers: asLocalUser });
      return ((await answer.json()) as { checks: ReadyCheck[] }).checks.filter(({ id }) => id.startsWith('canary:'));
    };
    await endCanaryLeases(ledger);
    expect(await left()).toMatchObject([{ id: 'canary:hooks', state: 'warning' }]);
    await stage.forgetAnswers();
    await withdrawCanaries(scene.to, null);
    expect(await left()).toEqual([]);

    await handleRequest(ledger, { kind: 'sink', name: 'hooks' }, { do: 'pause', reason: 'the receiver is moved' });
    const count = stage.received().length;
    expect((await ask(['hooks'])).body.canaries).toMatchObject([
      { state: 'warning', says: 'nothing was sent: it is paused', todo: 'pigeonpost resume sink:hooks' },
    ]);
    expect(stage.received()).toHaveLength(count);
    expect(
      await stage.db.query(
        `select target, detail::text as detail from audit where action = 'canary' order by number limit 1`,
      ),
    ).toEqual([{ target: 'pigeonhole:acme/101', detail: '{"sinks":"hooks"}' }]);
  });
});
