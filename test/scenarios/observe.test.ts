import type { Action, ActionResult } from '../../operations/action.js';
import { kinds } from '../kit/scenario-kinds.js';
import { act } from '../../operations/act.js';
import { attendee, question, session } from '../kit/items.js';
import type { Scene } from '../kit/scene.js';
import { archive, type Stage, useStages } from '../kit/stage.js';
import { starterOf } from '../kit/starter-of.js';
import { statusOf } from '../kit/status-of.js';

const stages = useStages();

const sinks = (mode: string, folder = './archive') => ({
  sinks: { archive: `{ type: file, folder: ${folder}, mode: ${mode}, consent: { accept: [obtained] } }` },
});

async function filled(stage: Stage): Promise<void> {
  await stage.put('sessions', session(1, { anonymousResponses: false }));
  await stage.put('attendees', attendee(1), attendee(2, { consent: { obtained: false } }));
  await stage.put('questions', question(11, 1, 1), question(12, 2, 1));
}

async function sinkStatus(scene: Scene) {
  const status = await statusOf(scene);
  return { settled: status.settled, ...status.sinks[0]! };
}

async function approve(scene: Scene, name = 'archive'): Promise<ActionResult> {
  const action: Action = { do: 'approve', kind: 'sink', name, by: 'ana', reason: 'looked at' };
  return await act({ deps: scene.deps, starter: starterOf(scene.deps) }, action);
}

const watermarks = (stage: Stage) =>
  stage.db.query<{ watermark: number }>('select watermark from lanes order by pigeonhole_number');

describe.each(kinds)('an observing sink, on %s', (kind) => {
  it('sends nothing, counts what it would send, and keeps its watermark', async () => {
    const stage = await stages.open(kind);
    await filled(stage);
    const scene = await stage.scene(sinks('observe'));
    await scene.settle();
    expect(archive(scene)).toEqual([]);
    expect((await watermarks(stage)).every(({ watermark }) => watermark === 0)).toBe(true);
    const status = await sinkStatus(scene);
    // The pigeonhole's record, the session, one attendee, one question with its author and one without.
    expect(status).toMatchObject({
      mode: 'observe',
      delivered: 0,
      backlog: 0,
      settled: true,
      approval: null,
      observation: { wouldSend: 4, wouldSendAnonymously: 1, wouldWithhold: { 'consent-refused': 1 }, behind: 0 },
    });
    await scene.settle(); // no change is counted twice
    expect((await sinkStatus(scene)).observation).toEqual(status.observation);
  });

  it('sends exactly what it counted, from its watermark, after an operator approves it', async () => {
    const stage = await stages.open(kind);
    await filled(stage);
    const scene = await stage.scene(sinks('observe'));
    await scene.settle();
    const { observation } = await sinkStatus(scene);
    expect(await approve(scene)).toBe('done');
    await scene.settle();
    expect(archive(scene)).toHaveLength(observation!.wouldSend + observation!.wouldSendAnonymously);
    const status = await sinkStatus(scene);
    expect(status.approval).toMatchObject({ approvedBy: 'ana', reason: 'looked at' });
    expect([status.withheld, status.settled]).toEqual([{ 'consent-refused': 1 }, true]);
    await stage.put('attendees', attendee(3));
    await stage.pollsAreDue();
    await scene.settle();
    expect(archive(scene).at(-1)).toMatchObject({ list: 'attendees', key: '3' });
  });

  it('stays approved after a restart, but not after a change of its destination or mode', async () => {
    const stage = await stages.open(kind);
    await filled(stage);
    const scene = await stage.scene(sinks('observe', `${stage.folder}/here`));
    await approve(scene);
    const again = await stage.scene(sinks('observe', `${stage.folder}/here`));
    expect((await sinkStatus(again)).approval).not.toBeNull();
    const elsewhere = await stage.scene(sinks('observe', `${stage.folder}/there`));
    expect((await sinkStatus(elsewhere)).approval).toBeNull();
    await elsewhere.settle();
    expect((await sinkStatus(elsewhere)).delivered).toBe(0);
    await approve(elsewhere);
    await stage.scene(sinks('send', `${stage.folder}/there`));
    const back = await stage.scene(sinks('observe', `${stage.folder}/there`));
    expect((await sinkStatus(back)).approval).toBeNull();
  });

  it('restarts its counts when its configuration changes', async () => {
    const stage = await stages.open(kind);
    await filled(stage);
    const scene = await stage.scene(sinks('observe'));
    await scene.settle();
    const wider = await stage.scene({
      sinks: { archive: '{ type: file, folder: ./archive, mode: observe, consent: { accept: [obtained, refused] } }' },
    });
    await wider.settle();
    expect((await sinkStatus(wider)).observation).toMatchObject({
      wouldSend: 6,
      wouldSendAnonymously: 0,
      wouldWithhold: {},
    });
  });

  it('is the only kind of sink that can be approved', async () => {
    const stage = await stages.open(kind);
    const scene = await stage.scene(sinks('send'));
    expect(await approve(scene)).toEqual({
      refused: 'sink archive has "mode: send", so it needs no approval',
    });
    expect(await approve(scene, 'nobody')).toBe('unknown');
  });
});
