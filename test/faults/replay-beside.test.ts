import { randomUUID } from 'node:crypto';
import { startReplay } from '../../operations/start-replay.js';
import type { Outcome } from '../../sinks/sink.js';
import { attendee } from '../kit/items.js';
import { kinds } from '../kit/scenario-kinds.js';
import type { Scene } from '../kit/scene.js';
import { everyone, pigeonhole, type Stage, useStages } from '../kit/stage.js';
import { starterOf } from '../kit/starter-of.js';
import { StateSink } from '../kit/state-sink.js';
import { statusOf } from '../kit/status-of.js';

const stages = useStages();

async function replay({ deps }: Scene): Promise<void> {
  const all = { sink: null, lists: null, pigeonhole: null, from: null, dryRun: false };
  await startReplay({ deps, starter: starterOf(deps) }, { ...all, id: randomUUID() });
}

async function sceneWith(stage: Stage, sink: StateSink, sync = ''): Promise<Scene> {
  return await stage.scene({
    sync,
    sinks: { crm: `{ type: file, folder: ./crm, lists: [attendees], ${everyone} }` },
    openSinks: sink.inPlaceOf('crm'),
  });
}

/** Returns, for each operation about attendee 1, the id of the object that the sink knew; undefined if it knew none. */
function knownIds({ sent }: StateSink): unknown[] {
  return sent.flatMap(({ name, object }) => (name === 'attendees:1' ? [object?.['id']] : []));
}

describe.each(kinds)('a replay beside other deliveries of the same change, on %s', (kind) => {
  it.each(['every', 'latest'] as const)(
    'is sent after the change itself, when the object that it created is known (a sink with "%s")',
    async (revisions) => {
      const stage = await stages.open(kind);
      await stage.put('attendees', attendee(1));
      const sink = new StateSink({ revisions, repeats: 'harmless' });
      const scene = await sceneWith(stage, sink);
      await scene.discover();
      await scene.read({ workspace: 'acme', pigeonholeId: pigeonhole });
      await replay(scene);
      await scene.settle();
      expect(knownIds(sink)).toEqual([undefined, 'remote-attendees:1']);
    },
  );

  it.each(['every', 'latest'] as const)(
    'is sent once, one after the other, if several have waited for a failing record (a sink with "%s")',
    async (revisions) => {
      const stage = await stages.open(kind);
      await stage.put('attendees', attendee(1));
      const sink = new StateSink({ revisions, repeats: 'harmless' });
      const answer = (outcome: Outcome): void => {
        sink.answer = ({ name }) => (name === 'attendees:1' ? outcome : undefined);
      };
      answer({ kind: 'rejected', cause: 'x', detail: 'no', about: 'record' });
      const scene = await sceneWith(stage, sink);
      await scene.settle();
      answer({ kind: 'retry', detail: 'later' });
      if (revisions === 'latest') await stage.patch('attendees', 1, { Name: 'Renamed' });
      await stage.put('attendees', attendee(2)); // is accepted, so the lane works
      await stage.pollsAreDue();
      await scene.settle();
      for (let time = 0; time < 2; time += 1) {
        await replay(scene);
        await scene.settle();
      }
      sink.answer = () => undefined;
      sink.sent.length = 0;
      for (let turn = 0; turn < 3; turn += 1) {
        await stage.retriesAreDue();
        await scene.settle();
      }
      const replays = ['remote-attendees:1', ...(revisions === 'latest' ? ['remote-attendees:1'] : [])];
      expect(knownIds(sink)).toEqual([undefined, ...replays]);
      const left = `select state from deliveries where state not in ('delivered', 'superseded')`;
      expect(await stage.db.query(left)).toEqual([]);
    },
  );

  it('is no longer a dead letter after a later replay of the same change was delivered', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', attendee(1));
    const sink = new StateSink();
    const scene = await sceneWith(stage, sink);
    await scene.settle();
    const dead = async (): Promise<unknown> => (await statusOf(scene)).sinks[0]!.dead;
    sink.answer = () => ({ kind: 'rejected', cause: 'x', detail: 'no', about: 'record' });
    await replay(scene);
    await scene.settle();
    expect(await dead()).toEqual({ x: 1 });
    sink.answer = () => undefined;
    await replay(scene);
    await scene.settle();
    expect(await dead()).toEqual({});
  });
});

describe.each(kinds)('a replay in a pigeonhole that leaves the configuration, on %s', (kind) => {
  it('keeps the work unsettled no longer, and continues if the pigeonhole returns', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', attendee(1));
    const sink = new StateSink();
    const scene = await sceneWith(stage, sink);
    await scene.settle();
    await replay(scene);
    const shown = async (present: Scene): Promise<unknown> => {
      const { settled, sinks } = await statusOf(present);
      return [settled, sinks[0]!.replays.length];
    };
    expect(await shown(scene)).toEqual([false, 1]);

    const without = await sceneWith(stage, sink, `pigeonholes: { exclude: [${pigeonhole}] }`);
    await without.settle();
    expect(await shown(without)).toEqual([true, 0]);
    const again = await sceneWith(stage, sink);
    await again.settle();
    expect(await shown(again)).toEqual([true, 0]);
    expect(knownIds(sink)).toEqual([undefined, 'remote-attendees:1']);
  });
});
