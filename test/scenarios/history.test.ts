import { kinds } from '../kit/scenario-kinds.js';
import { attendee, question, session } from '../kit/items.js';
import type { Scene } from '../kit/scene.js';
import { archived, everyone, pigeonhole, type Stage, useStages } from '../kit/stage.js';
import { deleteItem } from '../kit/tombstone.js';

const stages = useStages();

const file = (folder: string, more: string): string => `{ type: file, folder: ./${folder}, ${everyone}, ${more} }`;

/** Reads with one sink, then adds a second one with this `history`. */
async function joinedBy(stage: Stage, history: string): Promise<Scene> {
  await stage.put('sessions', session(1));
  await stage.put('attendees', attendee(1), attendee(2), attendee(3));
  const first = await stage.scene({ sinks: { other: file('other', 'history: all') } });
  await first.settle();
  await stage.patch('attendees', 1, { Name: 'Second' });
  await stage.sweepsAreDue();
  await first.settle();
  return await stage.scene({
    sinks: { other: file('other', 'history: all'), archive: file('archive', `history: ${history}`) },
  });
}

/** Returns key, revision and type of each line, ordered by key. */
const people = (scene: Scene): (string | number)[][] =>
  archived(scene, 'attendees')
    .map(({ key, revision, type }) => [key, revision, type])
    .toSorted(([a], [b]) => Number(a) - Number(b));

describe.each(kinds)('the history that a new sink receives, on %s', (kind) => {
  it('is the latest revision of each item by default, with its original id, revision and sequence', async () => {
    const stage = await stages.open(kind);
    const scene = await joinedBy(stage, 'all');
    await scene.settle();
    expect(people(scene)).toEqual([
      ['1', 2, 'attendees.updated'],
      ['2', 1, 'attendees.created'],
      ['3', 1, 'attendees.created'],
    ]);
    const changes = await stage.db.query<{ id: string; sequence: number; found_at: Date }>(
      `select c.id, c.sequence, c.found_at from changes c join items i on i.pigeonhole_number = c.pigeonhole_number
         and i.last_sequence = c.sequence
       where c.list = 'attendees' order by c.sequence`,
    );
    expect(
      archived(scene, 'attendees').map((line) => ({
        id: line.id,
        sequence: line.sequence,
        found_at: new Date((line as unknown as { timestamp: string }).timestamp),
      })),
    ).toEqual(changes);
  });

  it('is empty with `none`, and later changes are sent', async () => {
    const stage = await stages.open(kind);
    const scene = await joinedBy(stage, 'none');
    await scene.settle();
    expect(people(scene)).toEqual([]);
    await stage.put('attendees', attendee(4));
    await stage.patch('attendees', 2, { Name: 'Second' });
    await stage.sweepsAreDue();
    await scene.settle();
    expect(people(scene)).toEqual([
      ['2', 2, 'attendees.updated'],
      ['4', 1, 'attendees.created'],
    ]);
  });

  it('consists of recent changes if it is a duration', async () => {
    const stage = await stages.open(kind);
    const scene = await joinedBy(stage, '2h');
    await stage.db.query(`update changes set found_at = found_at - interval '3 hours' where key in ('1', '2')`);
    await stage.db.query(`update changes set found_at = found_at - interval '1 hour' where key = '3'`);
    await scene.settle();
    expect(people(scene)).toEqual([['3', 1, 'attendees.created']]);
    await stage.put('attendees', attendee(4));
    await stage.pollsAreDue();
    await scene.settle();
    expect(people(scene).at(-1)).toEqual(['4', 1, 'attendees.created']);
  });

  it('excludes deleted items, but includes later deletions of sent items', async () => {
    const stage = await stages.open(kind);
    const scene = await joinedBy(stage, 'all');
    const one = { pigeonholeId: pigeonhole, list: 'attendees' };
    await deleteItem(scene.ledger, { ...one, key: '3' });
    await scene.settle();
    expect(people(scene).map(([key]) => key)).toEqual(['1', '2']);
    await deleteItem(scene.ledger, { ...one, key: '2' });
    await scene.settle();
    expect(people(scene)).toContainEqual(['2', 2, 'attendees.deleted']);
    expect(archived(scene, 'attendees', '2').at(-1)!.data).toBeNull();
  });

  it('applies to a list that is added to a sink as well', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1));
    await stage.put('attendees', attendee(1));
    await stage.put('questions', question(11, 1, 1));
    // Lists that no sink selects are not read, so they have no history.
    const other = { sinks: { other: `{ type: file, folder: ${stage.folder}/other, ${everyone} }` } };
    const first = await stage.webhookScene(`${everyone}, history: none, lists: [attendees]`, other);
    await first.settle();
    const wider = await stage.webhookScene(`${everyone}, history: none, lists: [attendees, questions]`, other);
    await wider.settle();
    expect(stage.received('questions')).toEqual([]);
    await stage.put('questions', question(12, 1, 1));
    await stage.pollsAreDue();
    await wider.settle();
    expect(stage.received('questions').map(({ key }) => key)).toEqual(['12']);
  });
});
