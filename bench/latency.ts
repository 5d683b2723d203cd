import { setTimeout as pause } from 'node:timers/promises';
import { type Bench, percentile, median } from './report.js';
import { Product } from './processes/product.js';
import { Receiver, sandboxKey, type SeenRequest } from './processes/sandbox.js';
import { type Stage, withStage } from './processes/stage.js';
import { waitUntil } from './processes/program.js';
import { onlyAttendees } from './processes/load-attendees.js';

const pollIntervalMs = 1000;

/**
 * Measures the time from a new question to its signed webhook, while the session is live and polled each second. The
 * delay of the poll interval itself (half a second on average) is separate: the first figures start at the first
 * request that could return the question.
 */
export const latency: Bench = {
  name: 'latency',
  about: 'a question asked on the service → its signed webhook received, --items times (100), on PostgreSQL',
  async run(options, report) {
    await withStage({ attendees: 200, pigeonholes: 1 }, async (stage) => {
      const receiver = await Receiver.start(stage);
      const product = await Product.start(stage, {
        store: 'postgres',
        sync: ['pigeonholes: [101]', 'every: { live: 1s, sweep: 1m }', 'sinks: [hooks]'],
        sinks: [receiver.sinkLine('hooks', ['qna-questions'])],
        env: receiver.env,
        profileFolder: options.profileFolder,
      });
      await product.untilSettled(60_000);
      const samples = await sample(stage, receiver, options.items ?? 100);
      const beyond = samples.flatMap(({ shownToReceivedMs }) => shownToReceivedMs ?? []);
      const whole = samples.map(({ askedToReceivedMs }) => askedToReceivedMs);
      report.note(
        `asked → received, the poll interval included: p50 ${percentile(whole, 0.5)} ms, p99 ${percentile(whole, 0.99)} ms`,
      );
      const inMs = { unit: 'ms' };
      report.figure({
        ...inMs,
        what: 'first page that shows a question → its webhook received, p50',
        value: percentile(beyond, 0.5),
        must: { atMost: 150 },
        aim: { atMost: 50 },
      });
      report.figure({
        ...inMs,
        what: '… p99',
        value: percentile(beyond, 0.99),
        must: { atMost: 600 },
        aim: { atMost: 100 },
      });
      report.figure({
        ...inMs,
        what: `asked → received, less the poll interval of ${pollIntervalMs} ms, p99`,
        value: percentile(whole, 0.99) - pollIntervalMs,
      });
    });
  },
};

interface Sample {
  readonly askedToReceivedMs: number;
  /**
   * Null if a request arrived while the question was created, because it is then unknown whether that request returned
   * the question.
   */
  readonly shownToReceivedMs: number | null;
}

async function sample(stage: Stage, receiver: Receiver, times: number): Promise<Sample[]> {
  await stage.sandbox.forgetRequests();
  const asked: { key: string; fromMs: number; toMs: number }[] = [];
  for (let n = 0; n < times; n += 1) {
    // Spread evenly over the poll interval (golden ratio), so that the questions do not synchronize with the product's
    // polls.
    await pause(pollIntervalMs * (0.5 + ((n * 0.618) % 1)));
    const fromMs = Date.now();
    const body = { op: 'insert', list: 'qna-questions', pigeonhole: 101 };
    const { results } = await stage.sandbox.control<{ results: { id: number }[] }>('POST', 'mutations', body);
    asked.push({ key: String(results[0]!.id), fromMs, toMs: Date.now() });
  }
  const receivedAt = await waitUntil('every question was received', () => allReceived(receiver, asked), 60_000);
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

/** Time at which each question was received, epoch ms; undefined while one is missing. */
async function allReceived(
  receiver: Receiver,
  asked: readonly { readonly key: string }[],
): Promise<Map<string, number> | undefined> {
  const created = (await receiver.received()).filter(({ type }) => type === 'qna-questions.created');
  const received = new Map(created.map(({ key, atMs }) => [key, atMs]));
  return asked.every(({ key }) => received.has(key)) ? received : undefined;
}

const samples = 3;
const patienceMs = 30 * 60_000;

/**
 * Measures how long the rolling sweep, which reads a slice with each poll, needs to find an edit that no poll reads:
 * the time from the edit to the commit of its change, and the requests of the slices.
 */
export const detection: Bench = {
  name: 'detection',
  about: 'an edit on the first page of --items attendees (100,000), polled each second → its change stored',
  async run(options, report) {
    const items = options.items ?? 100_000;
    await withStage(onlyAttendees(items, options.latencyMs), async (stage) => {
      const product = await Product.start(stage, {
        store: options.store ?? 'postgres',
        sync: ['pigeonholes: [101]', `every: { live: ${pollIntervalMs}ms }`, 'sinks: [votes]'],
        // Attendees are read for the consent of voters, and are not delivered.
        sinks: ['votes: { type: file, folder: ./archive, lists: [poll-mcq-votes] }'],
        profileFolder: options.profileFolder,
      });
      await product.untilStored('attendees', { items }, patienceMs);
      const tookMs: number[] = [];
      for (let n = 0; n < samples; n += 1) {
        // Each sample starts a third of a round later, so that it meets the sweep in a different phase.
        await pause(n === 0 ? 5 * pollIntervalMs : median(tookMs) / 3);
        const before = await stage.sandbox.requestCount();
        const atMs = Date.now();
        const body = { op: 'patch', list: 'attendees', pigeonhole: 101, id: await firstId(stage.sandbox.baseUrl) };
        await stage.sandbox.control('POST', 'mutations', { ...body, item: { Company: `ACME ${n}` } });
        const edited = await product.untilStored('attendees', { what: 'updated', fromMs: atMs }, patienceMs);
        const storedAtMs = edited.at(-1)!.atMs;
        tookMs.push(storedAtMs - atMs);
        const requests = (await stage.sandbox.requestCount()) - before;
        report.note(`edit ${n + 1}: found after ${((storedAtMs - atMs) / 1000).toFixed(1)} s and ${requests} requests`);
      }
      const pages = Math.ceil(items / 300);
      const inSeconds = { unit: 's' };
      report.figure({
        ...inSeconds,
        what: `edit on the first of ${pages} pages → stored, median`,
        value: median(tookMs) / 1000,
      });
      report.figure({ ...inSeconds, what: '… longest', value: Math.max(...tookMs) / 1000 });
    });
  },
};

async function firstId(baseUrl: string): Promise<number> {
  const answer = await fetch(`${baseUrl}/v2/pigeonholes/101/attendees?count=1`, {
    headers: { 'X-API-KEY': sandboxKey },
  });
  const { data } = (await answer.json()) as { data: readonly { id: number }[] };
  return data[0]!.id;
}
