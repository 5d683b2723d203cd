import type { Change } from '../../sinks/change.js';
import { kinds } from '../../ledger/drivers/both-databases.test-kit.js';
import { finish, type Profile, people, rowsOf, stage as stageImport } from '../imports/importing.js';
import { attendee } from '../kit/items.js';
import type { Scene } from '../kit/scene.js';
import { everyone, type Item, type Stage, useStages } from '../kit/stage.js';

const stages = useStages();
const registrants = 'lists: [registrants]';

/** The last word on each registrant by their code; deletions as null. */
function latest(stage: Stage): Record<string, Change['data']> {
  const items = new Map<string, { code: string; data: Change['data']; revision: number }>();
  for (const { key, change } of stage.received('registrants')) {
    const { data, revision } = change as Change;
    const before = items.get(key);
    if (before !== undefined && before.revision > revision) continue;
    items.set(key, { code: data === null ? before!.code : (data['attendeeCode'] as string), data, revision });
  }
  return Object.fromEntries([...items.values()].map(({ code, data }) => [code, data]));
}

async function imported(scene: Scene, ...profiles: readonly Profile[]): Promise<void> {
  await finish(scene, await stageImport(scene, rowsOf(...profiles)));
}

async function readAgain(stage: Stage, scene: Scene): Promise<void> {
  await stage.pollsAreDue();
  await scene.settle();
}

const came = (id: number, code: string, more: Item = {}): Item =>
  attendee(id, { attendeeCode: code, registrantId: id + 1000, ...more });
const nobodyYet = { registrantId: null, attendeeId: null, attendees: 0, signedIn: false, signedInAt: null };

describe.each(kinds)('registrants, on %s', (kind) => {
  it('are told of once they are imported, and of their sign-in once they came', async () => {
    const stage = await stages.open(kind);
    const scene = await stage.webhookScene(`${everyone}, ${registrants}`);
    await scene.settle();
    const [first, second] = people(2) as [Profile, Profile];
    await imported(scene, first, second);
    await scene.settle();
    expect(latest(stage)).toEqual({
      P00001: { ...first, ...nobodyYet, consent: 'not-known' },
      P00002: { ...second, ...nobodyYet, consent: 'not-known' },
    });

    const signInTime = '2026-11-21T08:00:05.000Z';
    await stage.put('attendees', came(7, 'P00002', { signInTime }), came(8, 'walk-in'));
    await readAgain(stage, scene);
    expect(latest(stage)).toEqual({
      P00001: { ...first, ...nobodyYet, consent: 'not-known' },
      P00002: {
        ...second,
        registrantId: 1007,
        attendeeId: 7,
        attendees: 1,
        signedIn: true,
        signedInAt: signInTime,
        consent: 'obtained',
      },
    });
    expect(stage.received('registrants').map(({ change }) => (change as Change).revision)).toEqual([1, 1, 2]);
  });

  it('are those who are there, whoever of the file was refused or had no part in it', async () => {
    const stage = await stages.open(kind);
    const scene = await stage.webhookScene(`${everyone}, ${registrants}`);
    await scene.settle();
    const bad = { attendeeCode: 'BAD', Name: 'n'.repeat(300) };
    await imported(scene, ...people(3), bad);
    await scene.settle();
    expect(Object.keys(latest(stage)).toSorted()).toEqual(['P00001', 'P00002', 'P00003']);

    await imported(scene, ...people(3), { attendeeCode: 'BAD', Name: 'short' });
    await scene.settle();
    expect(Object.keys(latest(stage)).toSorted()).toEqual(['BAD', 'P00001', 'P00002', 'P00003']);
    expect(stage.received('registrants')).toHaveLength(4);
  });
});
