import { anyStore } from '../../ledger/drivers/both-databases.test-kit.js';
import { kinds } from '../kit/scenario-kinds.js';
import type { Database, Queryable } from '../../ledger/drivers/database.js';
import { writeProgress } from '../../ledger/streams-progress.js';
import { PigeonholeReader } from '../../reading/pigeonhole-reader.js';
import { ServiceGate } from '../../requests/service-gate.js';
import { forecastNeeds } from '../../reading/demand.js';
import type { ReadingResult } from '../../cycles/cycle-results.js';
import { seededRandom } from '../kit/random.js';
import { attendee, qnaQuestion, question, session, vote } from '../kit/items.js';
import type { Scene } from '../kit/scene.js';
import { pigeonhole, type Stage, useStages } from '../kit/stage.js';

/*
 * What a reader does that stays with a pigeonhole and remembers what it has read (decision 0088). The state of the ledger
 * after any sequence of reads is compared in test/properties.
 */

const never = new AbortController().signal;

/** A reader that stays, with the statements that it sends. */
class Stay {
  readonly statements: string[] = [];
  readonly reader: PigeonholeReader;

  constructor(
    private readonly stage: Stage,
    scene: Scene,
  ) {
    const db = recorded(scene.ledger.db, (sql) => this.statements.push(sql));
    const ledger = { ...scene.ledger, db };
    const gate = new ServiceGate(ledger, scene.deps.log, forecastNeeds);
    this.reader = new PigeonholeReader(
      { ...scene.deps, ledger, gate },
      { workspace: 'acme', pigeonholeId: pigeonhole },
      null,
    );
  }

  /** Runs cycles until everything is read and remembered. */
  async settle(): Promise<void> {
    for (let quiet = 0; quiet < 2;) {
      await this.poll();
      quiet = this.statements.some((sql) => !isOfPoll(sql)) ? 0 : quiet + 1;
    }
  }

  /** Waits until the next poll is due, and runs it. */
  async poll(): Promise<ReadingResult> {
    for (;;) {
      this.statements.length = 0;
      const result = await this.reader.round(never);
      if (result.pages > 0) return result;
      await new Promise((resolve) => setTimeout(resolve, Math.max(1, result.nextDueInMs)));
    }
  }

  /** Stores the progress as a beat does. */
  async beat(): Promise<readonly number[]> {
    const refused = await writeProgress(this.stage.db, null, this.reader.takeProgress());
    this.reader.progressRefused(refused);
    return refused;
  }
}

/** The statements that the permits and the wait of the workspace take. */
const isOfPoll = (sql: string): boolean => /\bquotas\b|from workspaces/.test(sql);

function recorded(db: Database, onStatement: (sql: string) => void): Database {
  const on = (queryable: Queryable): Queryable => ({
    query(sql, params) {
      onStatement(sql);
      return queryable.query(sql, params);
    },
    script: (sql) => queryable.script(sql),
  });
  return {
    ...db,
    ...on(db),
    kind: db.kind,
    transaction(work, options) {
      onStatement('begin');
      return db.transaction((tx) => work(on(tx)), options);
    },
  };
}

const sync = 'every: { live: 1s, sweep: 1h }';

async function fill(stage: Stage): Promise<void> {
  await stage.put('sessions', session(1, { anonymousResponses: false }));
  await stage.put('attendees', ...[11, 12, 13].map((id) => attendee(id)));
  await stage.put('qna-questions', ...[1, 2, 3].map((id) => qnaQuestion(id, { id: 11, anonymous: false }, 1)));
  await stage.put('questions', ...[1, 2, 3].map((id) => question(id, 11, 1)));
  await stage.put('votes', vote(1, 12, 1), vote(2, 13, 1));
}

describe.each(kinds)('a quiet poll, on %s', (kind) => {
  const stages = useStages();

  async function settled(): Promise<{ stage: Stage; scene: Scene; stay: Stay }> {
    const stage = await stages.open(kind);
    await fill(stage);
    const scene = await stage.scene({ sync });
    await scene.settle();
    const stay = new Stay(stage, scene);
    await stay.settle();
    await stay.beat();
    return { stage, scene, stay };
  }

  it('takes its permits with one statement, and sends no other one', async () => {
    const { stage, stay } = await settled();
    const before = await dump(stage);
    await stage.requests();
    const { pages } = await stay.poll();

    expect(pages).toBeGreaterThanOrEqual(5);
    expect(stay.statements.filter((sql) => !isOfPoll(sql))).toEqual([]);
    expect(stay.statements.filter((sql) => sql.includes('quotas'))).toHaveLength(1);
    expect(await dump(stage)).toEqual(before);
  });

  it('counts as a read and as a sweep once its progress is stored', async () => {
    const { stage, stay } = await settled();
    const [before] = await progressOf(stage, 'questions');
    await stay.poll();
    expect(await stay.beat()).toEqual([]);
    const [after] = await progressOf(stage, 'questions');

    expect(after!.sweeps).toBe(before!.sweeps + 1);
    expect(after!.quiet).toBe(before!.quiet + 1);
    for (const name of ['polled', 'swept', 'from', 'due'] as const) {
      expect([name, after![name].getTime() > before![name].getTime()]).toEqual([name, true]);
    }
  });

  it('stores an item that appears, changes or disappears', async () => {
    const { stage, scene, stay } = await settled();
    await stage.put('questions', question(4, 12, 1));
    expect(await stay.poll()).toMatchObject({ created: 1, updated: 0, deleted: 0 });
    await stay.settle();
    await stage.patch('questions', 4, { question: { id: 4, content: 'Another?', status: 'approved' } });
    expect(await stay.poll()).toMatchObject({ created: 0, updated: 1, deleted: 0 });
    await stay.settle();
    await stage.remove('questions', 4);
    await stage.put('attendees', attendee(14));
    let deleted = 0;
    for (let polls = 0; polls < 20 && deleted === 0; polls += 1) deleted += (await stay.poll()).deleted;
    expect(deleted).toBe(1);
    expect(await scene.ledger.db.query(`select 1 from items where list = 'attendees'`)).toHaveLength(4);
  });

  it('does not overwrite what others have made due since it started', async () => {
    const { stage, stay } = await settled();
    await stay.poll();
    await stage.db.query(`update streams set due_at = now(), sweep_due_at = now() where list = 'questions'`);
    const [asked] = await progressOf(stage, 'questions');
    expect(await stay.beat()).toEqual([]);
    const [after] = await progressOf(stage, 'questions');

    expect(after!.due).toEqual(asked!.due);
    expect(after!.sweepDue).toEqual(asked!.sweepDue);
    expect(after!.sweeps).toBe(asked!.sweeps + 1);
  });

  it('compares the rows again after the ledger has forgotten a page', async () => {
    const { stage, stay } = await settled();
    await stage.db.query(`update pages set digest = null where true`);
    await stage.db.query(`update items set content_hash = '\\x00' where list = 'questions' and key = '2'`);
    expect(await stay.poll()).toMatchObject({ updated: 0 });
    stay.reader.forget();
    expect(await stay.poll()).toMatchObject({ updated: 1 });
  });

  it('ends when another reader has taken the streams, and stores nothing more', async () => {
    const { stage, scene, stay } = await settled();
    await stay.poll();
    const other = new Stay(stage, scene);
    await stage.db.query(`update streams set due_at = now() where true`);
    await other.poll();
    const before = await dump(stage);

    expect((await stay.beat()).length).toBeGreaterThan(0);
    await expect(stay.poll()).rejects.toMatchObject({ kind: 'stale' });
    await stay.reader.close();
    expect(await dump(stage)).toEqual(before);
  });
});

/** Lists of several pages, in every order, that change at random while a reader stays with them. */
describe.each([
  ['ascending', 11],
  ['descending', 12],
  ['unordered', 13],
] as const)('a reader that remembers lists in %s order', (order, seed) => {
  const stages = useStages();

  it('holds the truth after random changes, faults and requests from outside', async () => {
    const random = seededRandom(seed);
    const below = (n: number): number => Math.floor(random() * n);
    const stage = await stages.open(anyStore);
    await stage.control('PATCH', 'knobs', { maxPerPage: 3, order });
    await fill(stage);
    const known = new Map<number, string>([1, 2, 3].map((id) => [id, `Question ${id}?`]));
    const scene = await stage.scene({
      sync: 'every: { live: 1s, sweep: 5s }\ndeletions: { settle: 1ms, confirm: 1ms }',
    });
    await scene.discover();
    const stay = new Stay(stage, scene);
    await stay.settle();
    for (let turn = 0; turn < 12; turn += 1) {
      for (let change = below(4); change > 0; change -= 1) {
        const id = below(2) === 0 ? 4 + turn * 4 + change : [...known.keys()][below(known.size)]!;
        const content = `Question ${id}, ${turn}.${change}?`;
        if (known.has(id) && below(3) === 0 && known.size > 2) {
          await stage.remove('questions', id);
          known.delete(id);
          continue;
        }
        if (known.has(id)) await stage.patch('questions', id, { question: { id, content, status: 'approved' } });
        else await stage.put('questions', question(id, 11, 1, { question: { id, content, status: 'approved' } }));
        known.set(id, content);
      }
      if (below(4) === 0) await stage.fault({ kind: 'error', list: 'questions', next: 1, code: 9000 });
      await stay.poll();
      if (below(2) === 0) await stay.beat();
      if (below(4) === 0) {
        await stage.db.query(`update streams set due_at = now(), sweep_due_at = now() where wanted`);
        stay.reader.forget();
      }
    }
    const held = async (): Promise<Map<number, string>> => {
      const rows = await stage.db.query<{ key: string; payload: string }>(
        `select key, payload::text from items where list = 'questions' and payload is not null`,
      );
      const content = (payload: string): string =>
        (JSON.parse(payload) as { question: { content: string } }).question.content;
      return new Map(rows.map(({ key, payload }) => [Number(key), content(payload)]));
    };
    const isDone = async (): Promise<boolean> => {
      const now = await held();
      return now.size === known.size && [...known].every(([id, content]) => now.get(id) === content);
    };
    for (let polls = 0; polls < 60 && !(await isDone()); polls += 1) await stay.poll();
    expect(await held()).toEqual(known);
    await stay.reader.close();
  });
});

async function progressOf(stage: Stage, list: string) {
  return await stage.db.query<
    { sweeps: number; quiet: number } & Record<'polled' | 'swept' | 'from' | 'due' | 'sweepDue', Date>
  >(
    `select sweeps, quiet_reads as quiet, polled_at as polled, swept_at as swept, swept_from as "from", due_at as due,
       sweep_due_at as "sweepDue" from streams where list = $1`,
    [list],
  );
}

/** Returns everything that reading stores, as text. */
async function dump(stage: Stage): Promise<string> {
  const tables = ['streams', 'walks', 'pages', 'items', 'changes', 'missing'];
  const rows = await Promise.all(tables.map((table) => stage.db.query(`select t::text from ${table} t order by 1`)));
  return JSON.stringify(rows);
}
