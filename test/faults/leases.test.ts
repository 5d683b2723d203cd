import { deliverToSink } from '../../delivering/deliver-to-sink.js';
import { kinds } from '../kit/scenario-kinds.js';
import { createPigeonholeClient, type PigeonholeClient } from '../../pigeonhole/client.js';
import type { Sink } from '../../sinks/sink.js';
import { until } from '../until.js';
import { attendee, question, session } from '../kit/items.js';
import { JumpingClocks } from '../kit/jumping-clocks.js';
import type { Scene } from '../kit/scene.js';
import { archive, archived, pigeonhole, type Stage, useStages } from '../kit/stage.js';

const stages = useStages();
const place = { workspace: 'acme', pigeonholeId: pigeonhole };
const many = Array.from({ length: 40 }, (_, index) => index + 1);

/** Wraps a sink whose `send` for the pigeonhole waits after sending until the test releases it. */
function holdable(inner: Sink): { sink: Sink; begun: () => boolean; letGo: () => void } {
  let begun = false;
  let letGo!: () => void;
  const gate = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const send: Sink['send'] = async (operations, lane, signal) => {
    const result = await inner.send(operations, lane, signal);
    if (lane.pigeonholeId === 0) return result;
    begun = true;
    await gate; // sent but not committed
    return result;
  };
  return { sink: { ...inner, send }, begun: () => begun, letGo };
}

/** Returns the dependencies of the scene with one sink that can be held. */
function withHeldSink(scene: Scene, name: string): { deps: Scene['deps']; held: ReturnType<typeof holdable> } {
  const open = scene.deps.sinks.get(name)!;
  const held = holdable(open.sink);
  return { deps: { ...scene.deps, sinks: new Map([[name, { ...open, sink: held.sink }]]) }, held };
}

/** Does the same for a process that never renews its lease, which it could otherwise do right after `endLease`. */
function withoutRenewal(scene: Scene, name: string): ReturnType<typeof withHeldSink> {
  const { deps, held } = withHeldSink(scene, name);
  return { deps: { ...deps, clocks: new JumpingClocks() }, held };
}

/** Creates a client that holds the later pages of a list until the test releases them. */
function holdingSecondPages(baseUrl: string, list: string): { client: PigeonholeClient; letGo: () => void } {
  const client = createPigeonholeClient({ baseUrl, apiKey: 'sandbox-key' });
  let letGo!: () => void;
  const gate = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const page: PigeonholeClient['page'] = async (of, options) => {
    const answer = await client.page(of, options);
    if (of.list === list && options?.cursor !== undefined && options.cursor !== null) await gate;
    return answer;
  };
  return { client: { ...client, page }, letGo };
}

async function endLease(stage: Stage): Promise<void> {
  await stage.db.query('update lanes set lease_expires_at = now() where owner is not null');
}

describe.each(kinds)('leases, on %s', (kind) => {
  it('reject the page of a reader whose stream another process has taken, so that nothing is duplicated', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1));
    await stage.put('attendees', ...many.map((id) => attendee(id)));
    await stage.control('PATCH', 'knobs', { maxPerPage: 10 });
    const { client, letGo } = holdingSecondPages(stage.sandbox.baseUrl, 'attendees');
    const first = await stage.scene({ client });
    const second = await stage.scene();
    await first.discover();
    const slow = first.read(place).catch((error: unknown) => error);
    await until(
      'the first reader waits for its second page',
      async () =>
        (
          await stage.db.query(
            `select 1 from streams s join walks w on w.stream_id = s.id where list = 'attendees' and pages = 1`,
          )
        ).length === 1,
    );
    await second.read(place);
    letGo();
    expect(await slow).toMatchObject({ name: 'LedgerError', kind: 'stale' });

    await first.settle();
    expect(archived(first, 'attendees').map(({ key, revision }) => [Number(key), revision])).toEqual(
      many.map((id) => [id, 1]),
    );
  });

  it('give a second sender no changes of a lane while the first one works on it', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', ...many.map((id) => attendee(id)));
    const scene = await stage.scene();
    await scene.discover();
    await scene.read(place);
    const { deps, held } = withHeldSink(scene, 'archive');
    const first = deliverToSink(deps, 'archive', new AbortController().signal);
    await until('the first sender has written', () => held.begun());

    const second = await scene.deliver('archive');
    expect(second.delivered).toBe(0);
    expect(second.nextDueInMs).toBeGreaterThan(0);
    held.letGo();
    expect((await first).delivered).toBeGreaterThan(0);
    await scene.settle();
    expect(archived(scene, 'attendees')).toHaveLength(40);
  });

  it('let a successor settle the changes of a slow sender, whose late commit is rejected', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', ...many.map((id) => attendee(id)));
    const scene = await stage.scene();
    await scene.discover();
    await scene.read(place);
    const { deps, held } = withoutRenewal(scene, 'archive');
    const late = deliverToSink(deps, 'archive', new AbortController().signal);
    await until('the first sender has written', () => held.begun());
    await endLease(stage);

    await scene.settle();
    held.letGo();
    await late;
    expect(scene.logText()).toContain('"error":"LedgerError stale"');
    await stage.retriesAreDue();
    await scene.settle();
    const lines = archive(scene).map(({ list, key, revision }) => `${list} ${key} ${revision}`);
    expect(lines).toHaveLength(new Set(lines).size);
    expect(archived(scene, 'attendees')).toHaveLength(40);
    expect(await stage.db.query(`select 1 from deliveries where state <> 'delivered'`)).toEqual([]);
  });

  it('cause a repeat with the same id and bytes if the slow sender did not commit the answer of a webhook', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1, { name: 'Before', anonymousResponses: false }));
    await stage.put('attendees', attendee(5));
    await stage.put('questions', question(11, 5, 1));
    const scene = await stage.webhookScene();
    await scene.discover();
    await scene.read(place);
    const { deps, held } = withoutRenewal(scene, 'hooks');
    const late = deliverToSink(deps, 'hooks', new AbortController().signal).catch((error: unknown) => error);
    await until('the first sender was answered', () => held.begun());
    await endLease(stage);
    // A copied text changes in the meantime: the question's row must follow, but not its change that is being sent.
    await stage.patch('questions', 11, { session: { name: 'After' } });
    await stage.pollsAreDue();
    await scene.settle();
    held.letGo();
    await late;

    const sent = stage.received('questions');
    expect(sent).toHaveLength(2);
    expect(new Set(sent.map(({ id, sha256 }) => `${id} ${sha256}`)).size).toBe(1);
    const [row] = await stage.db.query<{ payload: string }>(`select payload from items where list = 'questions'`);
    expect(row!.payload).toContain('After');
  });
});
