import { Client } from 'pg';
import { Secret } from '../../../../config/secret.js';
import { createPostgresSink } from '../../../../sinks/postgres/postgres.js';
import { environmentOf } from '../../../../sinks/sink-environment.test-kit.js';
import { lendDatabase } from '../../../lend-database.js';
import { changeOf, type HeldDestination, type Version } from './held-destination.js';

type Row = Readonly<Record<string, unknown>> & { readonly key: string };

/** Rows of a table. Its primary key allows one for each item. */
export async function startPostgres(): Promise<HeldDestination> {
  const lent = (await lendDatabase({ isEmpty: true }))!;
  const owner = new Client({ connectionString: lent.url });
  await owner.connect();
  const sink = createPostgresSink(
    { url: new Secret(lent.url), schema: 'engagement' },
    environmentOf('warehouse', { onForget: 'clear-our-fields' }),
    { connectTimeoutMs: 60_000, statementTimeoutMs: 60_000 },
  );
  const contentOf = (version: Version): string => `Question, ${version}`;
  const remove = async (number: number): Promise<unknown> =>
    await owner.query('delete from engagement.questions where key = $1', [String(number)]);
  return {
    sink,
    findsCopies: false,
    item: (number, version) =>
      changeOf('questions', number, version, {
        attendeeId: number,
        createdAt: '2026-11-21T08:00:00.000Z',
        session: { id: 5001, name: 'Keynote', type: 'qna' },
        question: { id: number, content: contentOf(version), status: 'approved' },
      }),
    async contents() {
      const { rows } = await owner.query<Row>('select * from engagement.questions order by key');
      return rows.map(({ updated_at: _, ...row }) => [row.key, Number(row.key), JSON.stringify(row)] as const);
    },
    remove,
    edit: async (number) =>
      await owner.query('update engagement.questions set question_content = $2 where key = $1', [
        String(number),
        contentOf('edited'),
      ]),
    async backup(number) {
      const { rows } = await owner.query<{ row: string }>(
        'select to_jsonb(q)::text as row from engagement.questions q where key = $1',
        [String(number)],
      );
      return async () => {
        await remove(number);
        await owner.query(
          `insert into engagement.questions select * from jsonb_populate_record(null::engagement.questions, $1::jsonb)`,
          [rows[0]!.row],
        );
      };
    },
    async close() {
      await sink.close();
      await owner.end();
      await lent.giveBack();
    },
  };
}
