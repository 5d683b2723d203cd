import { setTimeout as pause } from 'node:timers/promises';
import { type Bench, type BenchReport, percentile } from './report.js';
import { Product } from './processes/product.js';
import { Receiver, type SeenRequest } from './processes/sandbox.js';
import { type Stage, withStage } from './processes/stage.js';
import { waitUntil } from './processes/program.js';

const pollIntervalMs = 1000;
const questions = 1000;
const untilSettledMs = 61_000;
/** Deadline for a change to arrive; a change that has not arrived by then counts as lost. */
const patienceMs = 60_000;

/** Both lists contain a question with the same id: one is for the audience, the other for moderators. */
const lists = ['questions', 'qna-questions'] as const;

/** Changes that a moderator or an author makes to a question somewhere in a long list. */
const deeds = {
  approval: { kind: 'updated', mutation: { op: 'patch', item: { status: 'allowed' } } },
  edit: { kind: 'updated', mutation: { op: 'patch', item: { content: 'When is lunch, please?' } } },
  withdrawal: { kind: 'deleted', mutation: { op: 'delete' } },
} as const;
type DeedName = keyof typeof deeds;

/**
 * Measures how fast an approved question is delivered, which is an edit on an old page: from the change in the service
 * to the change in the ledger, in poll intervals, and from there to the signed webhook. Uses questions from all parts
 * of a live session with 1,000 questions.
 */
export const moderation: Bench = {
  name: 'moderation',
  about: `approval, edit and withdrawal among ${questions} questions of a live session → seen, → signed webhook, --items times each (50)`,
  async run(options, report) {
    const conference = { attendees: 200, pigeonholes: 1, sessions: 1, questions, votes: 0 };
    await withStage(conference, async (stage) => {
      const receiver = await Receiver.start(stage);
      const product = await Product.start(stage, {
        store: options.store ?? 'postgres',
        sync: ['pigeonholes: [101]', `every: { live: ${pollIntervalMs}ms }`, 'sinks: [hooks]'],
        sinks: [receiver.sinkLine('hooks', lists)],
        env: receiver.env,
        profileFolder: options.profileFolder,
      });
      await product.untilSettled(60_000);
      // A new question needs a second walk before its deletion counts. Most questions of a session are older.
      await pause(untilSettledMs);
      await stage.sandbox.forgetRequests();
      const samples = await sample(stage, receiver, options.items ?? 50);
      for (const name of Object.keys(deeds) as DeedName[]) {
        tell(
          report,
          name,
          samples.filter(({ deed }) => deed === name),
        );
      }
      const polls = pollsIn(await stage.sandbox.requests());
      report.note(
        `polls started every ${percentile(polls.apartMs, 0.5)} ms (p50), ${percentile(polls.apartMs, 0.99)} ms (p99), took ${percentile(polls.tookMs, 0.5)} and ${percentile(polls.tookMs, 0.99)} ms, ${polls.requests.toFixed(1)} requests each`,
      );
    });
  },
};

interface Sample {
  readonly deed: DeedName;
  /** Time from the action to the change that the product found; infinite if the product found none. */
  readonly foundAfterMs: number;
  /** Time from the found change to its webhook. */
  readonly sentAfterMs: number;
}

/** Reports the delay until the product found a change ("seen"), and separately the delay of its webhook. */
function tell(report: BenchReport, deed: DeedName, samples: readonly Sample[]): void {
  const found = samples.map(({ foundAfterMs }) => foundAfterMs / pollIntervalMs);
  const received = samples.map(({ foundAfterMs, sentAfterMs }) => (foundAfterMs + sentAfterMs) / pollIntervalMs);
  const sent = samples.map(({ sentAfterMs }) => sentAfterMs);
  const inIntervals = { unit: 'poll intervals' };
  const inMs = { unit: 'ms' };
  report.figure({ ...inIntervals, what: `${deed} → seen, p50`, value: percentile(found, 0.5) });
  report.figure({
    ...inIntervals,
    what: '… p99',
    value: percentile(found, 0.99),
    must: { atMost: 2 },
    aim: { atMost: 1.5 },
  });
  report.figure({ ...inMs, what: 'seen → webhook received, p50', value: percentile(sent, 0.5) });
  report.figure({ ...inMs, what: '… p99', value: percentile(sent, 0.99) });
  report.figure({ ...inIntervals, what: `${deed} → webhook received, p99`, value: percentile(received, 0.99) });
}

/** A request belongs to another poll if it arrives this long after the previous one. */
const betweenPollsMs = 200;

/** Measures the regularity of the product's polls in the service. */
function pollsIn(requests: readonly SeenRequest[]): { apartMs: number[]; tookMs: number[]; requests: number } {
  const polls: { beganAtMs: number; endedAtMs: number }[] = [];
  for (const { arrivedAtMs, durationMs } of requests) {
    const last = polls.at(-1);
    if (last !== undefined && arrivedAtMs - last.endedAtMs < betweenPollsMs) last.endedAtMs = arrivedAtMs + durationMs;
    else polls.push({ beganAtMs: arrivedAtMs, endedAtMs: arrivedAtMs + durationMs });
  }
  return {
    apartMs: polls.slice(1).map(({ beganAtMs }, index) => beganAtMs - polls[index]!.beganAtMs),
    tookMs: polls.map(({ beganAtMs, endedAtMs }) => Math.round(endedAtMs - beganAtMs)),
    requests: requests.length / polls.length,
  };
}

async function sample(stage: Stage, receiver: Receiver, times: number): Promise<Sample[]> {
  const ids = await pendingFirst(stage);
  const done: Done[] = [];
  for (let n = 0; n < times; n += 1) {
    for (const deed of Object.keys(deeds) as DeedName[]) {
      // Spread evenly over the poll interval (golden ratio), so that the actions do not synchronize with the product's
      // polls.
      await pause(pollIntervalMs * (0.2 + 0.3 * ((done.length * 0.618) % 1)));
      const id = deed === 'approval' ? ids.pending.shift() : ids.others.shift();
      if (id === undefined) throw new Error(`there are too few questions for ${times} of each: give fewer --items`);
      const mutation = { ...deeds[deed].mutation, list: 'qna-questions', pigeonhole: 101, id };
      await stage.sandbox.control('POST', 'mutations', mutation);
      done.push({ deed, key: String(id), atMs: Date.now() });
    }
  }
  return await untilTold(receiver, done);
}

type Done = { readonly deed: DeedName; readonly key: string; readonly atMs: number };

/** Returns the delays per list. A change that did not arrive within the deadline counts as infinite. */
async function untilTold(receiver: Receiver, done: readonly Done[]): Promise<Sample[]> {
  let samples: Sample[] = [];
  const look = async (): Promise<true | undefined> => {
    const told = await receiver.received();
    samples = done.flatMap(({ deed, key, atMs }) =>
      lists.map((list) => {
        const type = `${list}.${deeds[deed].kind}`;
        const change = told.find((each) => each.key === key && each.type === type && each.foundAtMs >= atMs - 1);
        if (change === undefined) {
          return { deed, foundAfterMs: Number.POSITIVE_INFINITY, sentAfterMs: Number.POSITIVE_INFINITY };
        }
        return { deed, foundAfterMs: change.foundAtMs - atMs, sentAfterMs: change.atMs - change.foundAtMs };
      }),
    );
    return samples.every(({ foundAfterMs }) => Number.isFinite(foundAfterMs)) ? true : undefined;
  };
  await waitUntil('every change was received', look, patienceMs).catch(() => undefined);
  return samples;
}

/** Returns the ids of pending and of other questions, in an order that is spread over the list. */
async function pendingFirst(stage: Stage): Promise<{ pending: number[]; others: number[] }> {
  const answer = await fetch(`${stage.sandbox.baseUrl}/_control/truth/qna-questions?pigeonhole=101`);
  const items = (await answer.text())
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as { id: number; status: string });
  const spread = items
    .map((item, index) => ({ ...item, place: (index * 0.618) % 1 }))
    .toSorted((a, b) => a.place - b.place);
  const idsOf = (isPending: boolean): number[] =>
    spread.filter(({ status }) => (status === 'pending') === isPending).map(({ id }) => id);
  return { pending: idsOf(true), others: idsOf(false) };
}
