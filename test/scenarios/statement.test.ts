import { pigeonholeLists } from '../../base/lists.js';
import { formatStatement } from '../../cli/statement/format-statement.js';
import { handleRequest } from '../../operations/act.js';
import { attendToStatements } from '../../operations/statement/statement-desk.js';
import { verifyFile } from '../../operations/statement/sign-statement.js';
import type { Statement } from '../../operations/statement/statement.js';
import { attendee, question, session, vote } from '../kit/items.js';
import { askToForget, forget } from '../kit/forget.js';
import { names, people, record, deeds, shows } from '../kit/marked-people.js';
import { kinds } from '../kit/scenario-kinds.js';
import { archive, everyone, pigeonhole, type Stage, useStages } from '../kit/stage.js';
import {
  apiText,
  askForStatement,
  lookAtStatement,
  makeStatement,
  statementApi,
  statementDeps,
} from '../kit/statement.js';
import { starterOf } from '../kit/starter-of.js';
import { truthOf } from '../kit/truth.js';

const stages = useStages();
const place = { kind: 'pigeonhole', name: { workspace: 'acme', pigeonholeId: pigeonhole } } as const;

const listOf = (statement: Statement, list: string) => statement.source.lists.find((each) => each.list === list)!;
const sinkOf = (statement: Statement, name: string, list: string) =>
  statement.destinations.find((each) => each.name === name)!.lists.find((each) => each.list === list)!;

/** Adds up every number of a statement that a person can add up. */
function expectSums({ source, destinations }: Statement): void {
  const sum = (numbers: readonly number[]): number => numbers.reduce((total, n) => total + n, 0);
  expect(source.shown).toBe(sum(source.lists.map(({ shown }) => shown)));
  expect(source.held).toBe(sum(source.lists.map(({ held }) => held)));
  for (const { shown, held, differences, sessions } of source.lists) {
    expect(shown).toBe(held + sum(differences.map(({ items }) => items)));
    if (sessions.length === 0) continue;
    expect([shown, held]).toEqual([sum(sessions.map((row) => row.shown)), sum(sessions.map((row) => row.held))]);
  }
  for (const { lists } of destinations) {
    for (const { list, items, delivered, withheld, refused, waiting, unsent, reasons } of lists) {
      expect([list, items]).toEqual([list, delivered + withheld + refused + waiting + unsent]);
      expect([list, items - delivered]).toEqual([list, sum(reasons.map((each) => each.items))]);
      const own = source.lists.find((each) => each.list === list);
      if (own !== undefined) expect([list, items]).toEqual([list, own.held]);
    }
  }
}

/** Compares the counts of a statement with the service's own data and with the lines of the file sink. */
async function expectTruth(stage: Stage, statement: Statement, lines: ReturnType<typeof archive>): Promise<void> {
  for (const list of pigeonholeLists) {
    const truth = await truthOf(stage.sandbox.baseUrl, list, pigeonhole);
    const own = listOf(statement, list);
    expect([list, own.shown, own.held]).toEqual([list, truth.length, truth.length]);
    const bySession = new Map<number, number>();
    for (const { session: of } of truth as { session?: { id: number } }[]) {
      if (of !== undefined) bySession.set(of.id, (bySession.get(of.id) ?? 0) + 1);
    }
    expect([list, Object.fromEntries(own.sessions.map((row) => [row.session, row.shown]))]).toEqual([
      list,
      Object.fromEntries(bySession),
    ]);
    const written = new Set(lines.filter((line) => line.list === list).map(({ key }) => key));
    expect([list, sinkOf(statement, 'archive', list).delivered]).toEqual([list, written.size]);
  }
}

describe.each(kinds)('a statement of an event, on %s', (kind) => {
  it('says what the service has, by list and session, and what each sink received or not', async () => {
    const stage = await stages.open(kind, { attendees: 150, sessions: 6, questions: 40 });
    const scene = await stage.webhookScene('consent: { accept: [obtained] }', {
      sinks: { archive: '{ type: file, folder: ./archive }' },
    });
    await scene.settle();

    const { statement } = await makeStatement(scene);
    expectSums(statement);
    await expectTruth(stage, statement, archive(scene));
    const attendees = await truthOf(stage.sandbox.baseUrl, 'attendees', pigeonhole);
    const consenting = attendees.filter(({ consent }) => (consent as { obtained?: boolean } | null)?.obtained === true);
    expect(sinkOf(statement, 'hooks', 'attendees')).toMatchObject({
      items: attendees.length,
      delivered: consenting.length,
      withheld: attendees.length - consenting.length,
    });
    expect(statement).toMatchObject({
      format: 'pigeonpost statement 1',
      event: { workspace: 'acme', id: pigeonhole },
      agrees: true,
      open: [],
      coverage: { interruptions: [], readAfterwards: true },
    });
    expect(statement.source.lists.every(({ readFrom }) => readFrom! >= statement.requestedAt)).toBe(true);
  });

  it('names items that the service no longer shows, those that it refuses, and those that wait', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1));
    await stage.put('attendees', ...Array.from({ length: 8 }, (_, n) => attendee(n + 1)));
    await stage.put('questions', ...Array.from({ length: 6 }, (_, n) => question(n + 1, 1, 1)));
    const gone = `{ type: webhook, url: "http://127.0.0.1:9/", secret: "\${HOOK_SECRET}", allowPrivateAddresses: true, ${everyone} }`;
    const scene = await stage.webhookScene(everyone, { sinks: { gone } });
    await stage.planAnswer({ status: 422, list: 'attendees', key: '2', count: 1 });
    await scene.settle();
    for (let id = 1; id <= 6; id += 1) await stage.remove('questions', id);

    const { statement } = await makeStatement(scene, () => stage.timePasses(120_000));
    expectSums(statement);
    expect(listOf(statement, 'questions')).toMatchObject({
      shown: 0,
      held: 6,
      differences: [{ items: -6, open: true }],
    });
    expect(sinkOf(statement, 'hooks', 'attendees')).toMatchObject({ delivered: 7, refused: 1 });
    expect(sinkOf(statement, 'gone', 'attendees')).toMatchObject({ delivered: 0, waiting: 8 });
    expect(statement.agrees).toBe(false);
    expect(statement.open.map(({ where, items }) => [where, items])).toEqual(
      expect.arrayContaining([
        ['Questions (general list), in the event service', 6],
        ['Attendees, at hooks', 1],
        ['Attendees, at gone', 8],
      ]),
    );
  });

  it('is made although the event cannot be read, and says why', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', attendee(1), attendee(2));
    const scene = await stage.scene();
    await scene.settle();
    await handleRequest(scene.ledger, place, { do: 'pause', reason: 'Jane asked for it' });

    const { statement } = await makeStatement(scene);
    expectSums(statement);
    expect(listOf(statement, 'attendees')).toMatchObject({
      shown: 0,
      held: 2,
      readFrom: null,
      differences: [{ reason: 'not-read', items: -2, open: true }],
    });
    expect(statement.open[0]).toMatchObject({ text: 'not read again: the reading is paused' });
    expect(statement.coverage.readAfterwards).toBe(false);
    expect(JSON.stringify(statement)).not.toContain('Jane');
  });

  it('waits until every list was read again, and shows how far it is', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', attendee(1));
    const scene = await stage.scene();
    await scene.settle();
    const app = statementApi(scene);

    const number = await askForStatement(app);
    expect(await askForStatement(app)).toBe(number);
    await attendToStatements(statementDeps(scene), starterOf(scene.deps));
    const { signed, progress } = await lookAtStatement(app, number);
    expect(signed).toBeNull();
    expect(progress).toMatchObject({ read: 0, blocked: null });
    expect((await apiText(app, `/api/statements/${number}/file?format=html`)).status).toBe(409);

    await scene.settle();
    await scene.save();
    await attendToStatements(statementDeps(scene), starterOf(scene.deps));
    expect((await lookAtStatement(app, number)).completedAt).not.toBeNull();
    expect(await askForStatement(app)).toBe(number + 1);
  });

  it('contains nothing of a person, in no form, and counts what erased people did', async () => {
    const stage = await stages.open(kind);
    for (let id = 1; id <= 4; id += 1) {
      await stage.put('sessions', session(id, { name: `MARK-session of ${id}`, anonymousResponses: id === 4 }));
    }
    await stage.put('questions', question(900, 7, 1));
    for (const [number, who] of names.entries()) {
      await stage.put('attendees', record(who));
      for (const [list, item] of deeds(who, number)) await stage.put(list, item);
    }
    const scene = await stage.webhookScene('consent: { accept: [obtained] }');
    await stage.planAnswer({ status: 422, list: 'attendees', key: String(people.turning), count: 1 });
    await scene.settle();
    await forget(stage, scene, await askToForget(scene, { by: 'id', text: String(people.withdrawing) }));
    await stage.put('votes', vote(900, people.withdrawing, 1, { createdAt: '2026-11-21T09:00:00.000Z' }));

    const signed = await makeStatement(scene);
    expectSums(signed.statement);
    expect(listOf(signed.statement, 'attendees')).toMatchObject({
      shown: names.length,
      held: names.length - 1,
      differences: [{ reason: 'erased', items: 1, open: false }],
    });
    const app = statementApi(scene);
    const forms = await Promise.all(
      ['html', 'json', 'csv'].map((format) =>
        apiText(app, `/api/statements/${signed.statement.number}/file?format=${format}`),
      ),
    );
    const texts = [
      ...forms.map(({ text }) => text),
      formatStatement(signed, { columns: 100, colours: false }).join('\n'),
    ];
    for (const text of texts) {
      expect(text).not.toContain('MARK-');
      for (const who of names) expect(shows(text, who)).toBe(false);
    }
  });

  it('is signed in each form, so that no altered one passes', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', attendee(1), attendee(2));
    const scene = await stage.scene();
    await scene.settle();
    const { statement } = await makeStatement(scene);
    const { publicKey } = scene.ledger.signing;
    const app = statementApi(scene);
    for (const format of ['json', 'html']) {
      const { text } = await apiText(app, `/api/statements/${statement.number}/file?format=${format}`);
      expect(verifyFile(text, publicKey).result).toBe('valid');
      expect(verifyFile(text.replace('2', '3'), publicKey).result).not.toBe('valid');
    }
    const { key } = JSON.parse((await apiText(app, '/api/statement-key')).text) as { key: string };
    expect(key).toBe(publicKey.toString());
  });
});
