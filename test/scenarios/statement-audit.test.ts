import { attendToStatements } from '../../operations/statement/statement-desk.js';
import { parityText } from '../../operations/statement/statement-sentences.js';
import type { Statement } from '../../operations/statement/statement.js';
import { audit, runAudit } from '../kit/audit.js';
import { HeldSink } from '../kit/held-sink.js';
import { attendee } from '../kit/items.js';
import { kinds } from '../kit/scenario-kinds.js';
import type { Scene } from '../kit/scene.js';
import { everyone, useStages } from '../kit/stage.js';
import { starterOf } from '../kit/starter-of.js';
import { askForStatement, lookAtStatement, makeStatement, statementApi, statementDeps } from '../kit/statement.js';

const stages = useStages();

const attend = async (scene: Scene): Promise<void> =>
  await attendToStatements(statementDeps(scene), starterOf(scene.deps));

const parityAt = ({ destinations }: Statement, name: string) => destinations.find((each) => each.name === name)!.parity;

describe.each(kinds)('a statement with an audit, on %s', (kind) => {
  const crm = (more = ''): string => `{ type: file, folder: ./crm, lists: [attendees], ${everyone}${more} }`;

  it('says what the destinations hold now, after everything was read and delivered', async () => {
    const stage = await stages.open(kind);
    const sink = new HeldSink();
    await stage.put('attendees', ...[1, 2, 3].map((id) => attendee(id)));
    const scene = await stage.scene({ sinks: { crm: crm() }, openSinks: sink.inPlaceOf('crm') });
    await scene.settle();
    await audit(scene, 'crm');
    sink.records.delete('attendees:2');

    const before = (await makeStatement(scene)).statement;
    expect(parityAt(before, 'crm')).toMatchObject({ same: 3, missing: 0 });
    const sentence = (of: Statement) => parityText(of.destinations[0]!, () => 'today', of.requestedAt);
    expect(sentence(before)).toContain('today, which is before this statement was requested: of 3 delivered items');
    expect(before.agrees).toBe(true);

    const app = statementApi(scene);
    const number = await askForStatement(app);
    expect(await askForStatement(app, { audit: true })).toBe(number); // the one that is being made audits now
    await scene.settle();
    await scene.save();
    await attend(scene);
    await attend(scene);
    const waiting = await lookAtStatement(app, number);
    expect(waiting.progress).toMatchObject({ audits: { destinations: 1, done: 0, checked: 0, total: 3 } });
    await runAudit(scene, 'crm');
    await attend(scene);
    const { statement } = (await lookAtStatement(app, number)).signed!;
    expect(parityAt(statement, 'crm')).toMatchObject({ compared: 3, same: 2, missing: 1 });
    expect(sentence(statement)).toContain('today: of 3 delivered items, 2 are there as sent');
    expect(statement.open).toMatchObject([
      { where: 'crm', items: 1, todo: expect.stringContaining('audit crm --repair') },
    ]);
  });

  it('does not wait for a destination that cannot be read, nor for one that is not audited', async () => {
    const stage = await stages.open(kind);
    const sink = new HeldSink();
    await stage.put('attendees', attendee(1));
    const scene = await stage.scene({ sinks: { crm: crm() }, openSinks: sink.inPlaceOf('crm') });
    await scene.settle();
    sink.answerRead = () => ({ kind: 'retry', detail: 'down' });
    const app = statementApi(scene);
    const number = await askForStatement(app, { audit: true });
    await scene.settle();
    await scene.save();
    await attend(scene);
    await stage.db.query(`update deliveries set updated_at = updated_at - interval '6 minutes'`);
    await runAudit(scene, 'crm');
    await attend(scene);
    expect((await lookAtStatement(app, number)).signed).toBeNull();
    await stage.db.query(`update statements set audits_requested_at = audits_requested_at - interval '6 minutes'`);
    await attend(scene);
    expect(parityAt((await lookAtStatement(app, number)).signed!.statement, 'crm')).toBeNull();

    const observing = await stage.scene({ sinks: { crm: crm(', mode: observe') }, openSinks: sink.inPlaceOf('crm') });
    const second = await askForStatement(app, { audit: true });
    await observing.settle();
    await observing.save();
    await attend(observing);
    await attend(observing);
    expect((await lookAtStatement(app, second)).signed).not.toBeNull();
  });
});
