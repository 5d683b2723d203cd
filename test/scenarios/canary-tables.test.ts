import { openPostgres } from '../../ledger/drivers/postgres.js';
import { createSlackSink } from '../../sinks/slack/slack.js';
import { sendCanaries } from '../../operations/canary/send-canaries.js';
import { slackWebhookConfig } from '../conformance/sinks/slack-stage.js';
import { DEFAULT_CHANNEL, startSlackDouble } from '../../sandbox/slack/start-slack-double.js';
import { attendee, qnaQuestion, session } from '../kit/items.js';
import { kinds } from '../kit/scenario-kinds.js';
import { everyone, useStages } from '../kit/stage.js';
import { useLentDatabases } from '../lend-database.js';
import { hasPostgres } from '../postgres.js';

const stages = useStages();
const place = { workspace: 'acme', pigeonholeId: 101 };
const hook = '/services/T000/B000/s3cret';

const emptyDatabase = useLentDatabases();

describe.each(kinds)('a canary, on %s', (kind) => {
  (hasPostgres() ? it : it.skip)('leaves the tables of a database as they were', async () => {
    const url = await emptyDatabase();
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1));
    await stage.put('attendees', attendee(1));
    const scene = await stage.scene({
      sinks: { tables: `{ type: postgres, url: "\${TABLES}", schema: engagement, ${everyone} }` },
      environment: { TABLES: url },
    });
    await scene.settle();
    const db = await openPostgres({ url });
    try {
      const rows = async (): Promise<object[]> => {
        const tables = await db.query<{ name: string }>(
          `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = 'engagement' order by 1`,
        );
        return await Promise.all(
          tables.map(async ({ name }) => ({
            name,
            rows: await db.query(`select t::text as row from ${name} t order by 1`),
          })),
        );
      };
      const before = await rows();
      const [line] = await sendCanaries(scene.to, place, ['tables']);
      expect(line).toMatchObject({ state: 'ok' });
      expect(line!.says).toMatch(/\(attendees\) was sent.* and taken back/);
      expect(await rows()).toEqual(before);
    } finally {
      await db.close();
    }
  });

  it('stays where only an incoming webhook leads, and its line says who has to remove it', async () => {
    const slack = await startSlackDouble({
      profile: 'established',
      webhooks: [{ path: hook, channel: DEFAULT_CHANNEL }],
    });
    try {
      const stage = await stages.open(kind);
      await stage.put('sessions', session(1, { anonymousResponses: false }));
      await stage.put('qna-questions', qnaQuestion(1, { id: 1, anonymous: false }, 1));
      const sink = createSlackSink(slackWebhookConfig(slack.url, hook), {
        name: 'talk',
        baseFolder: '/',
        network: { allowHosts: [] },
      });
      const scene = await stage.scene({
        sinks: {
          talk: `{ type: slack, webhookUrl: "\${HOOK}", ${everyone}, messages: [ { from: qna-questions, text: item.content } ] }`,
        },
        environment: { HOOK: `https://hooks.slack.com${hook}` },
        openSinks: (made) => new Map([['talk', { ...made.get('talk')!, sink }]]),
      });
      await scene.settle();
      expect(slack.state().channels[0]!.messages).toHaveLength(1);
      const [line] = await sendCanaries(scene.to, place, ['talk']);
      expect(line).toMatchObject({
        state: 'warning',
        says: expect.stringMatching(
          /was sent .* and cannot be taken back: what was posted there can be neither edited nor deleted$/,
        ),
        todo: expect.stringMatching(/^look there for \d{15} and remove it by hand$/),
      });
      expect(slack.state().channels[0]!.messages.at(-1)!.text).toContain(line!.todo!.match(/\d{15}/)![0]);
      expect(slack.state().channels[0]!.messages).toHaveLength(2);
    } finally {
      await slack.close();
    }
  });
});
