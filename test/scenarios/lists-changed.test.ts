import { kinds } from '../kit/scenario-kinds.js';
import { attendee, session } from '../kit/items.js';
import type { Scene } from '../kit/scene.js';
import { everyone, type Stage, useStages } from '../kit/stage.js';
import { StateSink } from '../kit/state-sink.js';

const stages = useStages();

async function wanting(stage: Stage, sink: StateSink, lists: string): Promise<Scene> {
  const crm = `{ type: file, folder: ./crm, lists: [${lists}], ${everyone} }`;
  const archive = `{ type: file, folder: ./archive, ${everyone} }`; // makes pigeonpost read everything
  return await stage.scene({ sinks: { crm, archive }, openSinks: sink.inPlaceOf('crm') });
}

describe.each(kinds)('a list that is removed from a sink and added again later, on %s', (kind) => {
  it('is brought up to date: the sink receives the deletions and changes of the meantime', async () => {
    const stage = await stages.open(kind);
    const sink = new StateSink();
    await stage.put('sessions', session(1));
    await stage.put('attendees', ...[1, 2, 3].map((id) => attendee(id)));
    await (await wanting(stage, sink, 'sessions, attendees')).settle();
    const without = await wanting(stage, sink, 'sessions');
    await without.settle();
    await stage.remove('attendees', 1);
    await stage.patch('attendees', 2, { Name: 'Other' });
    await stage.put('attendees', attendee(4));
    await stage.remove('attendees', 4);
    await stage.sweepsAreDue();
    await without.settle();
    expect(sink.records.get('attendees:1')!.data).not.toBeNull();

    const again = await wanting(stage, sink, 'sessions, attendees');
    await again.settle();
    await stage.timePasses(31_000); // one of three is a large share, so a second answer must confirm it
    await again.settle();
    expect(sink.records.get('attendees:1')).toMatchObject({ data: null, object: { id: 'remote-attendees:1' } });
    expect(sink.records.get('attendees:2')!.revision).toBe(2);
    expect(sink.records.has('attendees:4')).toBe(false);
  });

  it('is not sent in the meantime, not even changes that were due or had failed before', async () => {
    const stage = await stages.open(kind);
    const sink = new StateSink();
    sink.answer = ({ name }) => {
      if (name === 'attendees:1') return { kind: 'retry', detail: 'later' };
      return name === 'attendees:2' ? { kind: 'rejected', cause: 'crm: INVALID', detail: 'field X' } : undefined;
    };
    await stage.put('sessions', session(1));
    await stage.put('attendees', ...[1, 2, 3].map((id) => attendee(id)));
    await (await wanting(stage, sink, 'sessions, attendees')).settle();
    sink.answer = () => undefined;
    await stage.retriesAreDue();
    const without = await wanting(stage, sink, 'sessions');
    await without.settle();
    await stage.retriesAreDue();
    await without.settle();
    expect([...sink.records.keys()].toSorted()).toEqual(['attendees:3', 'sessions:1']);

    await (await wanting(stage, sink, 'sessions, attendees')).settle();
    expect([...sink.records.keys()].toSorted()).toEqual(['attendees:1', 'attendees:2', 'attendees:3', 'sessions:1']);
  });
});
