import { setTimeout as pause } from 'node:timers/promises';
import { type BenchReport, percentile } from '../report.js';
import { waitUntil } from '../processes/program.js';
import type { SeenRequest } from '../processes/sandbox.js';
import type { Fleet } from './fleet.js';
import type { ScaleTask } from './polling.js';

/** Delays of one new question. */
export interface Delay {
  /** From the question in the service to its change in the store, by the change's timestamp. */
  readonly foundMs: number;
  /** From the arrival of the first request that returned the question to its signed webhook. Null if that is uncertain. */
  readonly shownToReceivedMs: number | null;
  readonly receivedMs: number;
}

const patienceMs = 10 * 60_000;
/** The sandbox keeps its latest 10,000 requests. */
const readRequestsEveryMs = 8000;

/**
 * Asks questions in one pigeonhole after another, evenly spread over the measured seconds and over the polling interval,
 * and waits until every one was received.
 */
export async function askQuestions(fleet: Fleet, pigeonholes: readonly number[], task: ScaleTask): Promise<Delay[]> {
  const questions = task.quick ? 10 : 100;
  const everyMs = Math.max(task.seconds * 1000, questions * 200) / questions;
  const asked: { key: string; pigeonhole: number; fromMs: number; toMs: number }[] = [];
  const log = new RequestLog(fleet);
  await log.read();
  for (let n = 0; n < questions; n += 1) {
    await pause(everyMs * (0.5 + ((n * 0.618) % 1))); // the golden ratio, so that questions and polls do not synchronize
    const pigeonhole = pigeonholes[(n * 7919) % pigeonholes.length]!;
    const body = { op: 'insert', list: 'qna-questions', pigeonhole };
    const fromMs = Date.now();
    const { results } = await fleet.sandbox.control<{ results: { id: number }[] }>('POST', 'mutations', body);
    asked.push({ key: String(results[0]!.id), pigeonhole, fromMs, toMs: Date.now() });
    await log.readIfDue();
  }
  const received = await waitUntil(
    'every question was received',
    async () => {
      await pause(500); // a receiver that is asked all the time delays what it receives
      const created = (await fleet.receiver.received()).filter(({ type }) => type === 'qna-questions.created');
      const byKey = new Map(created.map((change) => [change.key, change]));
      return asked.every(({ key }) => byKey.has(key)) ? byKey : undefined;
    },
    patienceMs,
  );
  await log.read();
  return asked.map(({ key, pigeonhole, fromMs, toMs }) => {
    const { foundAtMs, atMs } = received.get(key)!;
    const shownAtMs = log.firstShowing(pigeonhole, fromMs, toMs);
    return {
      foundMs: foundAtMs - toMs,
      receivedMs: atMs - toMs,
      shownToReceivedMs: shownAtMs === undefined ? null : atMs - shownAtMs,
    };
  });
}

/** Requests for `qna-questions`, collected before the sandbox forgets them. */
class RequestLog {
  readonly #requests = new Map<string, SeenRequest>();
  #readAtMs = 0;

  constructor(private readonly fleet: Fleet) {}

  async readIfDue(): Promise<void> {
    if (Date.now() - this.#readAtMs >= readRequestsEveryMs) await this.read();
  }

  async read(): Promise<void> {
    this.#readAtMs = Date.now();
    for (const request of await this.fleet.sandbox.requests()) {
      if (request.path.endsWith('/qna-questions'))
        this.#requests.set(`${request.path} ${request.arrivedAtMs}`, request);
    }
  }

  /** Undefined if a request arrived while the question was created: it is unknown whether it returned the question. */
  firstShowing(pigeonhole: number, fromMs: number, toMs: number): number | undefined {
    const path = `/v2/pigeonholes/${pigeonhole}/qna-questions`;
    const arrivals = [...this.#requests.values()]
      .filter((request) => request.path === path && request.arrivedAtMs >= fromMs)
      .map(({ arrivedAtMs }) => arrivedAtMs)
      .toSorted((a, b) => a - b);
    const [first] = arrivals;
    return first === undefined || first <= toMs ? undefined : first;
  }
}

export function reportDelays(
  where: string,
  { delays, task }: { delays: readonly Delay[]; task: ScaleTask },
  report: BenchReport,
): void {
  const found = delays.map(({ foundMs }) => foundMs / task.intervalMs);
  const shown = delays.flatMap(({ shownToReceivedMs }) => shownToReceivedMs ?? []);
  const limit = (must: number, aim: number): object =>
    task.quick ? {} : { must: { atMost: must }, aim: { atMost: aim } };
  report.note(
    `${delays.length} questions: found after p50 ${percentile(found, 0.5).toFixed(2)}, p99 ${percentile(found, 0.99).toFixed(2)} intervals; received after p50 ${Math.round(
      percentile(
        delays.map(({ receivedMs }) => receivedMs),
        0.5,
      ),
    )} ms`,
  );
  report.figure({ what: `${where}: new question → stored, p50, in intervals`, value: percentile(found, 0.5) });
  report.figure({ what: '… p99', value: percentile(found, 0.99), ...limit(2, 1.5) });
  if (shown.length === 0) return;
  const inMs = { unit: 'ms' };
  report.figure({
    ...inMs,
    what: `${where}: first page that shows a question → its webhook received, p50`,
    value: percentile(shown, 0.5),
    ...limit(300, 100),
  });
  report.figure({ ...inMs, what: '… p99', value: percentile(shown, 0.99), ...limit(1500, 400) });
}
