import type { ReadyCheck } from '../../api/readiness.js';
import { endCanaryLeases } from '../../ledger/queries/canaries.js';
import { pause } from '../../ledger/queries/pauses.js';
import type { Sink } from '../../sinks/sink.js';
import { sendCanaries } from '../../worker/canary/send-canaries.js';
import { withdrawCanaries } from '../../worker/canary/withdraw-canaries.js';
import { lookReady } from '../../worker/ready/look-ready.js';
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

async function fly({ to }: Scene, names: readonly string[] = [...to.sinks.keys()]): Promise<Record<string, ReadyCheck>> {
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
    expect(lines['hooks']!.says).toMatch(/^"pigeonpost canary \d{15}" \(attendees\) was sent \(HTTP 204\) and taken back/);
    expect(lines['talk']!.says).toMatch(/\(qna-questions\) was sent \(.*request double-\d+\) and taken back \(2 messages/);
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
      { type: 'attendees.created', revision: 1, pigeonholeId: 101, data: { Email: expect.stringMatching(/^pigeonpost-canary-\d+@example\.com$/) } },
      { type: 'attendees.deleted', revision: 2, data: null },
      [],
    ]);
    expect(created!.key).toBe(deleted!.key);
    expect(await ledgerOf(stage)).toBe(ledger);
  });
});
