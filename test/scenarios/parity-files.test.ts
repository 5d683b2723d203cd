import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Change } from '../../sinks/change.js';
import { audit, findingTexts, parityCounts, repair } from '../kit/audit.js';
import { askToForget, forget } from '../kit/forget.js';
import { attendee } from '../kit/items.js';
import type { Scene } from '../kit/scene.js';
import { everyone, useStages } from '../kit/stage.js';

const stages = useStages();

/** Maximum time of the test with many items. */
const longMs = 180_000;

/** Returns the files of the archive by path. */
function filesOf({ folder }: Scene): Map<string, string> {
  const archive = join(folder, 'archive');
  const paths = readdirSync(archive, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ndjson'));
  return new Map(paths.toSorted().map((path) => [join(archive, path), readFileSync(join(archive, path), 'utf8')]));
}

const linesOf = (scene: Scene): string[] =>
  [...filesOf(scene).values()].flatMap((text) => text.split('\n').slice(0, -1));

/** Edits the archive as a colleague with an editor does. */
function edit(scene: Scene, change: (line: string, found: Change) => readonly string[]): void {
  for (const [path, text] of filesOf(scene)) {
    const lines = text.split('\n').slice(0, -1);
    const edited = lines.flatMap((line) => change(line, JSON.parse(line) as Change));
    writeFileSync(path, edited.map((line) => `${line}\n`).join(''));
  }
}

describe('an audit of files', () => {
  it(
    'finds every planted difference among 10,000 items and no other, and its repair leaves none and touches nothing else',
    async () => {
      const people = 10_000;
      const stage = await stages.open('embedded');
      for (let first = 1; first <= people; first += 1000) {
        await stage.put('attendees', ...Array.from({ length: 1000 }, (_, at) => attendee(first + at)));
      }
      const sinks = { archive: `{ type: file, folder: ./archive, lists: [attendees], ${everyone} }` };
      const scene = await stage.scene({ sinks });
      await scene.settle();
      await stage.patch('attendees', 3, { Name: 'Renamed' });
      await stage.sweepsAreDue();
      await scene.settle();
      const restored = linesOf(scene).find((line) => (JSON.parse(line) as Change).key === '5')!;
      await forget(stage, scene, await askToForget(scene, { by: 'id', text: '5' }));
      await audit(scene, 'archive');
      expect(await findingTexts(scene, 'archive')).toEqual([]);
      const { same } = await parityCounts(scene, 'archive');
      expect(same).toBeGreaterThan(people);

      edit(scene, (line, found) => {
        switch (`${found.key} ${found.revision}`) {
          case '1 1': // deleted by a colleague
          case '3 2': // one revision behind
            return [];
          case '2 1': // edited
            return [JSON.stringify({ ...found, data: { ...found.data, Name: 'Edited' } })];
          case '4 1': // duplicated
            return [line, line];
          case '6 1': // a restored backup has the line of an erased person
            return [restored, line];
          default:
            return [line];
        }
      });
      await audit(scene, 'archive');
      const found = await findingTexts(scene, 'archive');
      expect(found.map((text) => text.replace(/ acme.*$/, ' copy'))).toEqual([
        'changed attendees:2 data.Name',
        'extra attendees:4 copy',
        'extra attendees:5',
        'missing attendees:1',
        'missing attendees:3',
      ]);

      const before = linesOf(scene);
      const { actions, byHand } = await repair(scene, 'archive');
      expect([actions, byHand]).toEqual([{ send: 3, remove: 0, 'remove-copy': 2 }, 0]);
      expect(await findingTexts(scene, 'archive')).toEqual([]);
      await audit(scene, 'archive');
      expect(await findingTexts(scene, 'archive')).toEqual([]);
      expect((await parityCounts(scene, 'archive')).same).toBe(same);
      const after = linesOf(scene);
      const replays = after.filter((line) => (JSON.parse(line) as Change).replay !== undefined);
      expect(replays.map((line) => (JSON.parse(line) as Change).key).toSorted()).toEqual(['1', '2', '3']);
      const untouched = [...new Set(before)].filter((line) => line !== restored);
      expect(after.filter((line) => !replays.includes(line))).toEqual(untouched);
    },
    longMs,
  );
});
