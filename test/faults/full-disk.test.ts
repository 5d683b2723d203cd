import { deliverToSink } from '../../delivering/deliver-to-sink.js';
import { readPigeonhole } from '../../reading/read-pigeonhole.js';
import { fullDisk } from '../kit/full-disk.js';
import { attendee, session } from '../kit/items.js';
import { kinds } from '../kit/scenario-kinds.js';
import { archived, everyone, pigeonhole, useStages } from '../kit/stage.js';

const stages = useStages();
const place = { workspace: 'acme', pigeonholeId: pigeonhole };
const never = new AbortController().signal;
const full = { name: 'StoreError', kind: 'full' };

describe.each(kinds)('a full disk, on %s', (kind) => {
  it.each([
    ['for every write', /\b(?:insert|update|delete)\b/i],
    ['only for new rows', /\binsert\b/i],
  ])(
    '%s: each cycle fails with that message, and nothing is lost or written twice when space is free again',
    async (_, needsRoom) => {
      const stage = await stages.open(kind);
      await stage.put('sessions', session(1));
      await stage.put('attendees', attendee(1), attendee(2));
      const scene = await stage.webhookScene(everyone, {
        sinks: { archive: `{ type: file, folder: ./archive, ${everyone} }` },
      });
      await scene.settle();
      const disk = fullDisk(stage.db, needsRoom);
      const deps = { ...scene.deps, ledger: { ...scene.ledger, db: disk.db } };

      await stage.put('attendees', attendee(3), attendee(4));
      await stage.pollsAreDue();
      disk.isFull = true;
      await expect(readPigeonhole(deps, place, never)).rejects.toMatchObject(full);
      await stage.retriesAreDue();
      await stage.pollsAreDue();
      await scene.read(place);
      for (const sink of ['archive', 'hooks'])
        await expect(deliverToSink(deps, sink, never)).rejects.toMatchObject(full);

      await stage.retriesAreDue();
      await scene.settle();
      const keys = ['1', '2', '3', '4'];
      expect(archived(scene, 'attendees').map(({ key, revision }) => [key, revision])).toEqual(
        keys.map((key) => [key, 1]),
      );
      const bodies = stage.received('attendees').map(({ change }) => JSON.stringify(change));
      expect(new Set(bodies).size).toBe(4); // a repeat has the same bytes
    },
  );
});
