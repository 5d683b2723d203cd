import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Bench } from './bench.js';
import { Product } from './processes/product.js';
import { Program } from './processes/program.js';
import type { SeenRequest } from './processes/sandbox.js';
import type { Stage } from './processes/stage.js';
import { waitUntil } from './processes/wait-until.js';
import { withStage } from './processes/with-stage.js';
import { percentile } from './report/median.js';

const pollIntervalMs = 1000;
/** Checks signatures on loopback and opens nothing. */
const webhookSecret = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';

/**
 * From a question that someone asks to the signed webhook that tells of it, while the session is live and polled each
 * second. What the poll interval itself adds (half a second on average) is counted apart: the first figures begin at
 * the request that could first show the question.
 */
export const latency: Bench = {
  name: 'latency',
  about: 'a question asked on the service → its signed webhook received, --items times (100), on PostgreSQL',
  async run(options, report) {
    await withStage(['--attendees', '200', '--pigeonholes', '1'], async (stage) => {
      const receiverUrl = await startReceiver(stage);
      const folder = stage.nextFolder();
      const store = await stage.freshStore('postgres', folder);
      const product = await Product.start({
        folder,
        sandboxUrl: stage.sandbox.baseUrl,
        databaseUrl: store.kind === 'postgres' ? store.url : undefined,
        sync: ['pigeonholes: [101]', 'every: { live: 1s, sweep: 1m }', 'sinks: [hooks]'],
        sinks: [
          `hooks: { type: webhook, url: "${receiverUrl}", secret: "\${BENCH_WEBHOOK_SECRET}", allowPrivateAddresses: true, lists: [qna-questions] }`,
        ],
        env: { BENCH_WEBHOOK_SECRET: webhookSecret },
        profileFolder: options.profileFolder,
      });
      try {
        await waitUntil('everything is settled', async () => ((await product.isSettled()) ? true : undefined), 60_000);
        const samples = await sample(stage, receiverUrl, options.items ?? 100);
        const beyond = samples.flatMap(({ shownToReceivedMs }) => shownToReceivedMs ?? []);
        const whole = samples.map(({ askedToReceivedMs }) => askedToReceivedMs);
        report.note(
          `asked → received, the poll interval included: p50 ${percentile(whole, 0.5)} ms, p99 ${percentile(whole, 0.99)} ms`,
        );
        const figure = { bench: 'latency', unit: 'ms' };
        report.figure({
          ...figure,
          what: 'first page that shows a question → its webhook received, p50',
          value: percentile(beyond, 0.5),
          must: { atMost: 150 },
        });
        report.figure({
          ...figure,
          what: '… p99',
          value: percentile(beyond, 0.99),
          must: { atMost: 600 },
          aim: { atMost: 250 },
        });
        report.figure({
          ...figure,
          what: `asked → received, less the poll interval of ${pollIntervalMs} ms, p99`,
          value: percentile(whole, 0.99) - pollIntervalMs,
          must: { atMost: 600 },
          aim: { atMost: 250 },
        });
      } finally {
        await product.stop();
      }
    });
  },
};

/** @returns where it takes webhooks */
async function startReceiver(stage: Stage): Promise<string> {
  const folder = stage.nextFolder();
  const program = new Program({
    program: 'sandbox/webhook-receiver/main',
    args: ['--secret', webhookSecret],
    env: {},
    cwd: folder,
    logFile: join(folder, 'receiver.log'),
  });
  stage.onClose(() => program.stop());
  const ready = await program.lineLike(/^webhook receiver ready at (\S+)/);
  return ready[1]!;
}

interface Sample {
  readonly askedToReceivedMs: number;
  /** Null where a request came at the very instant, so that nobody knows whether it showed the question. */
  readonly shownToReceivedMs: number | null;
}

async function sample(stage: Stage, receiverUrl: string, times: number): Promise<Sample[]> {
  await stage.sandbox.forgetRequests();
  const asked: { key: string; fromMs: number; toMs: number }[] = [];
  for (let n = 0; n < times; n += 1) {
    // Spread evenly over the poll interval (golden ratio), so that no rhythm of ours meets the product's.
    await pause(pollIntervalMs * (0.5 + ((n * 0.618) % 1)));
    const fromMs = Date.now();
    const body = { op: 'insert', list: 'qna-questions', pigeonhole: 101 };
    const { results } = await stage.sandbox.control<{ results: { id: number }[] }>('POST', 'mutations', body);
    asked.push({ key: String(results[0]!.id), fromMs, toMs: Date.now() });
  }
  const receivedAt = await waitUntil('every question was received', () => allReceived(receiverUrl, asked), 60_000);
  const requests = (await stage.sandbox.requests()).filter(({ path }) => path.endsWith('/qna-questions'));
  return asked.map(({ key, fromMs, toMs }) => {
    const received = receivedAt.get(key)!;
    const shownAtMs = firstShowing(requests, fromMs, toMs);
    return {
      askedToReceivedMs: received - toMs,
      shownToReceivedMs: shownAtMs === undefined ? null : received - shownAtMs,
    };
  });
}

function firstShowing(requests: readonly SeenRequest[], fromMs: number, toMs: number): number | undefined {
  const doubtful = requests.some(({ arrivedAtMs }) => arrivedAtMs >= fromMs && arrivedAtMs <= toMs);
  return doubtful ? undefined : requests.find(({ arrivedAtMs }) => arrivedAtMs > toMs)?.arrivedAtMs;
}

/** When each question was received, epoch ms; undefined while one is missing. */
async function allReceived(
  receiverUrl: string,
  asked: readonly { readonly key: string }[],
): Promise<Map<string, number> | undefined> {
  const answer = await fetch(new URL('/_control/receipts', receiverUrl));
  const receipts = (await answer.text())
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as { key: string; type: string; receivedAt: string })
    .filter(({ type }) => type === 'qna-questions.created');
  const received = new Map(receipts.map(({ key, receivedAt }) => [key, Date.parse(receivedAt)]));
  return asked.every(({ key }) => received.has(key)) ? received : undefined;
}
