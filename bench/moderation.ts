import { setTimeout as pause } from 'node:timers/promises';
import type { Bench } from './bench.js';
import { Product } from './processes/product.js';
import { Receiver } from './processes/receiver.js';
import type { Stage } from './processes/stage.js';
import { waitUntil } from './processes/wait-until.js';
import { withStage } from './processes/with-stage.js';
import { percentile } from './report/median.js';

const pollIntervalMs = 1000;
const questions = 1000;
/** In the product's words nothing is left to do: what has not been told by then is not told at all. */
const patienceMs = 60_000;

/** What a moderator or an author does to a question that stands somewhere in a long list. */
const deeds = {
  approval: { type: 'qna-questions.updated', mutation: { op: 'patch', item: { status: 'allowed' } } },
  edit: { type: 'qna-questions.updated', mutation: { op: 'patch', item: { content: 'When is lunch, please?' } } },
  withdrawal: { type: 'qna-questions.deleted', mutation: { op: 'delete' } },
} as const;
type DeedName = keyof typeof deeds;

/**
 * An approved question has to be on the screen in seconds, and it is an edit on an old page: from the change at the
 * service to the signed webhook, in poll intervals, for questions all over a live session of a thousand.
 */
export const moderation: Bench = {
  name: 'moderation',
  about: `approval, edit and withdrawal among ${questions} questions of a live session → signed webhook, --items times each (50)`,
  async run(options, report) {
    const conference = { attendees: 200, pigeonholes: 1, sessions: 1, questions, votes: 0 };
    await withStage(
      Object.entries(conference).flatMap(([name, value]) => [`--${name}`, String(value)]),
      async (stage) => {
        const receiver = await Receiver.start(stage);
        const folder = stage.nextFolder();
        const store = await stage.freshStore(options.store ?? 'postgres', folder);
        const product = await Product.start({
          folder,
          sandboxUrl: stage.sandbox.baseUrl,
          databaseUrl: store.kind === 'postgres' ? store.url : undefined,
          sync: ['pigeonholes: [101]', `every: { live: ${pollIntervalMs}ms }`, 'sinks: [hooks]'],
          sinks: [receiver.sinkLine('hooks', ['qna-questions'])],
          env: receiver.env,
          profileFolder: options.profileFolder,
        });
        try {
          await waitUntil(
            'everything is settled',
            async () => ((await product.isSettled()) ? true : undefined),
            60_000,
          );
          const samples = await sample(stage, receiver, options.items ?? 50);
          for (const name of Object.keys(deeds) as DeedName[]) {
            const took = samples.filter(({ deed }) => deed === name).map(({ tookMs }) => tookMs / pollIntervalMs);
            const figure = { bench: 'moderation', unit: 'poll intervals' };
            report.figure({ ...figure, what: `${name} → webhook received, p50`, value: percentile(took, 0.5) });
            report.figure({ ...figure, what: '… p99', value: percentile(took, 0.99), must: { atMost: 2 } });
          }
        } finally {
          await product.stop();
        }
      },
    );
  },
};

interface Sample {
  readonly deed: DeedName;
  /** Infinite where it was not told at all. */
  readonly tookMs: number;
}

async function sample(stage: Stage, receiver: Receiver, times: number): Promise<Sample[]> {
  const ids = await pendingFirst(stage);
  const done: { deed: DeedName; key: string; atMs: number }[] = [];
  for (let n = 0; n < times; n += 1) {
    for (const deed of Object.keys(deeds) as DeedName[]) {
      // Spread evenly over the poll interval (golden ratio), so that no rhythm of ours meets the product's.
      await pause(pollIntervalMs * (0.2 + 0.3 * ((done.length * 0.618) % 1)));
      const id = deed === 'approval' ? ids.pending.shift() : ids.others.shift();
      if (id === undefined) throw new Error(`there are too few questions for ${times} of each: give fewer --items`);
      const mutation = { ...deeds[deed].mutation, list: 'qna-questions', pigeonhole: 101, id };
      await stage.sandbox.control('POST', 'mutations', mutation);
      done.push({ deed, key: String(id), atMs: Date.now() });
    }
  }
  const tookMs = await untilTold(receiver, done);
  return done.map(({ deed }, index) => ({ deed, tookMs: tookMs[index]! }));
}

/** How long each took; what is not told within the patience is infinite. */
async function untilTold(
  receiver: Receiver,
  done: readonly { readonly deed: DeedName; readonly key: string; readonly atMs: number }[],
): Promise<number[]> {
  let tookMs: number[] = [];
  const look = async (): Promise<true | undefined> => {
    const told = await receiver.received();
    tookMs = done.map(({ deed, key, atMs }) => {
      const change = told.find((each) => each.key === key && each.type === deeds[deed].type && each.atMs >= atMs - 1);
      return change === undefined ? Number.POSITIVE_INFINITY : change.atMs - atMs;
    });
    return tookMs.every(Number.isFinite) ? true : undefined;
  };
  await waitUntil('every change was received', look, patienceMs).catch(() => undefined);
  return tookMs;
}

/** Ids of questions in an order that goes all over the list: those that wait for approval, and the others. */
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
