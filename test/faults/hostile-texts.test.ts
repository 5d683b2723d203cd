import fc from 'fast-check';
import { kinds } from '../../ledger/drivers/both-databases.test-kit.js';
import { openPostgres } from '../../ledger/drivers/postgres.js';
import { knownProfileFields } from '../../importing/desk/find-target.js';
import { pigeonholeNames, pigeonholeNumberOf } from '../../ledger/pigeonholes.js';
import { seenFields } from '../../ledger/seen-fields.js';
import { asStored, hostileText, hostileTexts } from '../kit/hostile-texts.js';
import { finish, rowsOf, stage as stageImport } from '../imports/importing.js';
import { answer, attendee, pollVote, qnaQuestion, question, rating, session, vote } from '../kit/items.js';
import { archived, everyone, type Item, pigeonhole, type Stage, useStages } from '../kit/stage.js';
import { useLentDatabases } from '../lend-database.js';
import { hasPostgres } from '../postgres.js';

const stages = useStages();
const emptyDatabase = useLentDatabases();

const texts = [...hostileTexts, ...fc.sample(hostileText, { numRuns: 25, seed: 20261122 })];
const by = (id: number): { id: number; anonymous: false } => ({ id, anonymous: false });

/** Every text that the service can choose is one of these; each list has an item with each. */
async function putHostile(stage: Stage): Promise<void> {
  const put = async (list: string, items: readonly Item[]): Promise<void> => stage.put(list, ...items);
  const each = (make: (text: string, id: number) => Item): Item[] => texts.map((text, n) => make(text, n + 1));
  await put('sessions', [session(1, { anonymousResponses: false, name: texts.join(''), tags: '\0' })]);
  await put(
    'attendees',
    each((text, id) =>
      attendee(id, { attendeeCode: `${id}${text}`, Name: text, [text]: text, linkedIn: { url: text } }),
    ),
  );
  await put(
    'qna-questions',
    each((text, id) => qnaQuestion(id, by(id), 1, { content: text, createdAt: text })),
  );
  await put(
    'questions',
    each((text, id) => question(id, id, 1, { question: { id, content: text, status: text } })),
  );
  await put(
    'votes',
    each((text, id) => vote(id, id, 1, { createdAt: text, question: { id: text, content: text } })),
  );
  await put(
    'answer_ratings',
    each((text, id) => ({ ...rating(id, 1, id, 1), createdAt: text })),
  );
  await put(
    'answers',
    each((text, id) => ({ ...answer(id, id, 1), answer: { id, content: text, status: text } })),
  );
  await put(
    'poll-mcq-votes',
    each((text, id) =>
      pollVote(id, by(id), 1, { question: { id: text, content: text }, option: { id, content: text } }),
    ),
  );
}

describe.each(kinds)('hostile texts from the service, on %s', (kind) => {
  it('are counted, found and delivered to the sinks unchanged', async () => {
    const stage = await stages.open(kind);
    await putHostile(stage);
    await stage.patch('pigeonholes', pigeonhole, { name: 'Stage \0 \ud800', status: 'live\0' });
    const tables = hasPostgres() ? await emptyDatabase() : undefined;
    const scene = await stage.scene({
      sinks: {
        archive: `{ type: file, folder: ./archive, ${everyone} }`,
        counts: `{ type: file, folder: ./counts, lists: [engagement, registrants], ${everyone} }`,
        ...(tables === undefined
          ? {}
          : { tables: `{ type: postgres, url: "\${TABLES}", schema: pigeonpost, ${everyone} }` }),
      },
      ...(tables === undefined ? {} : { environment: { TABLES: tables } }),
    });
    await scene.settle();
    await finish(
      scene,
      await stageImport(scene, rowsOf(...texts.map((text, n) => ({ attendeeCode: `code ${n}`, Name: text })))),
    );
    await scene.settle();

    const people = new Map(archived(scene, 'attendees').map(({ key, data }) => [key, data]));
    expect(people.size).toBe(texts.length);
    for (const [n, text] of texts.entries()) {
      expect(people.get(String(n + 1))).toMatchObject({ Name: text, attendeeCode: `${n + 1}${text}` });
    }
    const [counted] = await stage.db.query<{ n: number }>(
      `select count(*)::int as n from items where list = 'engagement' and payload is not null`,
    );
    expect(counted!.n).toBe(2 * texts.length); // in the session and in total
    expect(await stage.db.query(`select 1 from deliveries where state <> 'delivered'`)).toEqual([]);

    const pigeonholeNumber = await pigeonholeNumberOf(scene.ledger, 'acme', pigeonhole);
    const names = await pigeonholeNames(scene.ledger, null);
    expect(names.find(({ pigeonholeId }) => pigeonholeId === pigeonhole)?.name).toBe('Stage \ufffd \ufffd');
    const known = await knownProfileFields(scene.ledger, pigeonholeNumber);
    // the sandbox's control API does not accept this field name
    const fields = texts.filter((text) => text !== '__proto__').map(asStored);
    expect(fields.filter((name) => !known.includes(name))).toEqual([]);
    for (const { list } of await stage.db.query<{ list: string }>('select distinct list from items')) {
      expect(await seenFields(scene.ledger, { list, workspace: null, pigeonholeId: null })).not.toEqual([]);
    }
    if (tables === undefined) return;
    const db = await openPostgres({ url: tables });
    const rows = await db.query<{ n: number }>('select count(*)::int as n from pigeonpost.attendees');
    await db.close();
    expect(rows).toEqual([{ n: texts.length }]);
  });

  it('include a prompt id that is longer than an index entry, and attendees are still counted', async () => {
    const stage = await stages.open(kind);
    const [long] = fc.sample(fc.string({ unit: 'binary', minLength: 9000, maxLength: 9000 }), { numRuns: 1, seed: 1 });
    await stage.put('sessions', session(1, { anonymousResponses: false }));
    await stage.put('attendees', attendee(1), attendee(2));
    await stage.put('poll-mcq-votes', pollVote(51, by(1), 1, { question: { id: long } }), pollVote(52, by(2), 1));
    const scene = await stage.scene({
      sinks: { archive: `{ type: file, folder: ./archive, lists: [engagement], ${everyone} }` },
    });
    await scene.settle();
    expect(archived(scene, 'engagement').map(({ data }) => data?.['answered'])).toEqual([1, 1, 1, 1]);
  });

  it('are read correctly from a payload of which only the rest is counted', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1, { anonymousResponses: false }));
    await stage.put('attendees', attendee(1));
    await stage.put('poll-mcq-votes', pollVote(51, by(1), 1));
    const scene = await stage.scene({
      sinks: { archive: `{ type: file, folder: ./archive, lists: [engagement], ${everyone} }` },
    });
    await scene.read({ workspace: 'acme', pigeonholeId: 0 });
    await scene.discover();
    await scene.settle();
    await stage.db.query(`update items set payload = $1::json where list = 'poll-mcq-votes'`, [
      JSON.stringify({ ...pollVote(51, by(1), 1), note: 'NUL \0, half \ud800' }),
    ]);
    await stage.db.query('delete from engagement_counts');
    await scene.settle();
    expect(archived(scene, 'engagement').at(-1)?.data).toMatchObject({ answered: 1 });
  });
});

describe.each(kinds)('a row that is nested too deep, on %s', (kind) => {
  it('is set aside and counted, and its neighbours are delivered', async () => {
    const stage = await stages.open(kind);
    const nested = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels));
    await stage.put('attendees', attendee(1, { more: nested(90) }), attendee(2, { more: nested(200) }), attendee(3));
    const scene = await stage.scene();
    await scene.settle();
    expect(archived(scene, 'attendees').map(({ key }) => key)).toEqual(['1', '3']);
    expect(archived(scene, 'attendees', 1)[0]?.data).toMatchObject({ more: nested(90) });
    expect(await stage.db.query(`select set_aside as n, failures from streams where list = 'attendees'`)).toEqual([
      { n: 1, failures: 0 },
    ]);
  });
});
