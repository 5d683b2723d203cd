import { setTimeout as pause } from 'node:timers/promises';
import { type Bench, percentile } from './report.js';
import { Product } from './processes/product.js';
import { Receiver, Sandbox } from './processes/sandbox.js';
import { type Stage, withStage } from './processes/stage.js';
import { waitUntil } from './processes/program.js';

const pollIntervalMs = 1000;
const questions = 1000;
const attendees = 200;
const firstReadMs = 60 * 60_000;
const patienceMs = 60_000;
const inIntervals = { unit: 'poll intervals' };

/**
 * Measures the freshness of a live session while the same process reads the attendees of another workspace for the
 * first time: from a new question to the change in the ledger and to its signed webhook, in poll intervals.
 */
export const neighbor: Bench = {
  name: 'neighbor',
  about: `a question of a live session with ${questions} questions → seen, → signed webhook, beside another workspace's first read of --items attendees (1,000,000)`,
  async run(options, report) {
    const items = options.items ?? 1_000_000;
    const conference = { attendees, pigeonholes: 1, sessions: 1, questions, votes: 0 };
    await withStage(conference, async (stage) => {
      const other = await Sandbox.start(stage.nextFolder(), {
        attendees: items,
        sessions: 0,
        pigeonholes: 1,
        'latency-ms': options.latencyMs,
      });
      stage.onClose(() => other.stop());
      const receiver = await Receiver.start(stage);
      const product = await Product.start(stage, {
        store: options.store ?? 'postgres',
        sync: ['pigeonholes: [101]', `every: { live: ${pollIntervalMs}ms }`, 'sinks: [hooks]'],
        sinks: [
          receiver.sinkLine('hooks', ['qna-questions']),
          'votes: { type: file, folder: ./archive, lists: [poll-mcq-votes] }', // needs attendees and delivers none
        ],
        neighbor: { sandboxUrl: other.baseUrl, sync: ['pigeonholes: [101]', 'sinks: [votes]'] },
        env: receiver.env,
        profileFolder: options.profileFolder,
      });
      const startedMs = Date.now();
      await product.untilDelivered(['hooks'], questions, patienceMs); // the backlog of the start
      let isReading = true;
      const read = product.untilStored('attendees', { items: items + attendees }, firstReadMs).finally(() => {
        isReading = false;
      });
      const asked: Asked[] = [];
      while (isReading) asked.push(await ask(stage, asked.length));
      await read;
      const seconds = (Date.now() - startedMs) / 1000;
      report.note(
        `${items} attendees were read in ${seconds.toFixed(0)} s, in which ${asked.length} questions were asked`,
      );
      const delays = await delaysOf(receiver, asked);
      report.figure({ ...inIntervals, what: 'question → seen, p50', value: percentile(delays.seen, 0.5) });
      const limits = { must: { atMost: 2 }, aim: { atMost: 1.2 } };
      report.figure({ ...inIntervals, what: '… p99', value: percentile(delays.seen, 0.99), ...limits });
      report.figure({
        ...inIntervals,
        what: 'question → webhook received, p50',
        value: percentile(delays.received, 0.5),
      });
      report.figure({ ...inIntervals, what: '… p99', value: percentile(delays.received, 0.99) });
    });
  },
};

interface Asked {
  readonly key: string;
  readonly atMs: number;
}

/** Asks a question. The pauses spread over the poll interval (golden ratio), so that they do not follow the polls. */
async function ask(stage: Stage, n: number): Promise<Asked> {
  await pause(pollIntervalMs * (0.2 + 0.5 * ((n * 0.618) % 1)));
  const body = { op: 'insert', list: 'qna-questions', pigeonhole: 101 };
  const { results } = await stage.sandbox.control<{ results: { id: number }[] }>('POST', 'mutations', body);
  return { key: String(results[0]!.id), atMs: Date.now() };
}

/** Returns the delays in poll intervals. A question that did not arrive in time counts as infinite. */
async function delaysOf(
  receiver: Receiver,
  asked: readonly Asked[],
): Promise<{ readonly seen: number[]; readonly received: number[] }> {
  const arrived = async () => {
    const created = (await receiver.received()).filter(({ type }) => type === 'qna-questions.created');
    return new Map(created.map((change) => [change.key, change]));
  };
  const allArrived = async (): Promise<true | undefined> => {
    const changes = await arrived();
    return asked.every(({ key }) => changes.has(key)) ? true : undefined;
  };
  await waitUntil('every question was received', allArrived, patienceMs).catch(() => undefined);
  const changes = await arrived();
  const inIntervalsSince = (atMs: number, toMs: number | undefined): number =>
    Math.max(0, (toMs ?? Number.POSITIVE_INFINITY) - atMs) / pollIntervalMs;
  return {
    seen: asked.map(({ key, atMs }) => inIntervalsSince(atMs, changes.get(key)?.foundAtMs)),
    received: asked.map(({ key, atMs }) => inIntervalsSince(atMs, changes.get(key)?.atMs)),
  };
}
