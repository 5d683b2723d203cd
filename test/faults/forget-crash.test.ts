import { kinds } from '../kit/scenario-kinds.js';
import { forgetAttendee } from '../../delivering/forget-attendee.js';
import { listErasures } from '../../people/erasures.js';
import { dumpLedger } from '../kit/dump-ledger.js';
import { askToForget, forget } from '../kit/forget.js';
import { attendee, question, session, vote } from '../kit/items.js';
import { mortalDatabase } from '../kit/mortal-database.js';
import { archive, everyone, useStages } from '../kit/stage.js';

const stages = useStages();
const never = new AbortController().signal;

describe.each(kinds)('forgetting a person, on %s', (kind) => {
  it('finishes even if the process dies at any step, and notifies every sink once', async () => {
    const stage = await stages.open(kind);
    const sinks = { archive: `{ type: file, folder: ./archive, ${everyone} }` };
    await stage.put('sessions', session(1, { anonymousResponses: false }));
    await stage.put('attendees', attendee(11, { Name: 'MARK' }), attendee(12));
    await stage.put('questions', question(21, 11, 1, { question: { id: 21, content: 'MARK', status: 'approved' } }));
    await stage.put('votes', vote(21, 12, 1, { question: { id: 21, content: 'MARK', status: 'approved' } }));
    const scene = await stage.scene({ sinks });
    await scene.settle();
    expect(JSON.stringify(archive(scene))).toContain('MARK');
    const id = await askToForget(scene, { by: 'id', text: '11' });

    // Each process dies right after a commit: its work is stored, but it did not receive the confirmation.
    for (let deaths = 1, turned = false; !turned && deaths <= 40; deaths += 1) {
      let commits = 0;
      const db = mortalDatabase(stage.db, ({ sql }) => sql === 'commit' && (commits += 1) === deaths);
      const deps = { ...scene.deps, ledger: { ...scene.ledger, db } };
      turned = await forgetAttendee(deps, id, never).then(
        () => true,
        () => false,
      );
      await stage.retriesAreDue();
      await scene.deliver('archive');
    }
    await forget(stage, scene, id);

    expect(await dumpLedger(stage.db)).not.toContain('MARK');
    expect(JSON.stringify(archive(scene))).not.toContain('MARK');
    const gone = archive(scene).filter(({ type }) => type.endsWith('.deleted'));
    expect(gone.map(({ list, key }) => `${list} ${key}`).toSorted()).toEqual(['attendees 11', 'questions 21']);
    expect(
      archive(scene)
        .filter(({ list }) => list === 'votes')
        .map(({ revision }) => revision),
    ).toEqual([1, 2]);
    const [erasure] = await listErasures(scene.ledger, { before: null, limit: 1 });
    expect(erasure).toMatchObject({ id, names: null, endedAt: expect.any(Date) as Date });
  });
});
