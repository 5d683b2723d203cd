import { setTimeout as pause } from 'node:timers/promises';
import { notRefused, obtained } from '../kit/promises.js';
import { heldByFile, heldByReceiver } from './held.js';
import { type Finding, judge, type SinkUnderJudgement } from './judge.js';
import { judgeContacts, judgeMessages } from './judge-vendors.js';
import { askFor, isSettled } from './product-api.js';
import { readSource, type Source } from './source.js';
import { hookSinks, type Stage } from './stage.js';
import { isToldInSlack } from './vendors.js';

/** Changes that each sink received and the faults found in them, by the sink's name. */
export type Verdict = ReadonlyMap<string, { readonly lines: number; readonly findings: readonly Finding[] }>;

export interface Settling {
  readonly verdict: Verdict;
  readonly source: Source;
  /** Time from the end of the faults until no finding was left and no change arrived. */
  readonly tookMs: number;
  readonly isSettled: boolean;
}

/** Maximum time, longer than the longest wait of a record that failed several times. */
const longestMs = 10 * 60_000;
/** Quiet time longer than a sweep of every list: a wrong change would have been delivered by then. */
const quietMs = 8000;
const lookEveryMs = 2000;
/** Number of checks before sweeps are requested, because the sweeps of an ended event are an hour apart. */
const sweepsFrom = 20;

/**
 * Waits, with the source frozen, until the product reports that it is settled, nothing is lost or kept, and nothing
 * more arrives; then judges. From time to time it requests an immediate read, as an operator would.
 */
export async function settle(stage: Stage, deletions: boolean, say: (line: string) => void): Promise<Settling> {
  const source = await readSource(stage.sandboxUrl);
  const startedAt = performance.now();
  const passedMs = (): number => Math.round(performance.now() - startedAt);
  let quietSince = performance.now();
  let linesBefore = -1;
  for (let look = 0; ; look += 1) {
    if (look % 5 === 0) await askFor(look < sweepsFrom ? 'poll-now' : 'sweep', stage);
    const verdict = judgeAll(stage, source, deletions);
    const lines = [...verdict.values()].reduce((sum, sink) => sum + sink.lines, 0);
    const open = [...verdict].map(([name, { findings }]) => `${name} ${findings.filter(isOpen).length}`);
    const complete = [...verdict.values()].every(({ findings }) => !findings.some(isOpen));
    const settled = await isSettled(stage);
    if (lines !== linesBefore || !complete || !settled) quietSince = performance.now();
    linesBefore = lines;
    if (complete && settled && performance.now() - quietSince > quietMs) {
      return { verdict, source, tookMs: passedMs(), isSettled: true };
    }
    if (passedMs() > longestMs) return { verdict, source, tookMs: passedMs(), isSettled: false };
    if (look % 5 === 0) {
      say(
        `settling for ${Math.round(passedMs() / 1000)} s: ${lines} changes, open: ${open.join(', ')}${settled ? ', settled' : ''}`,
      );
    }
    await pause(lookEveryMs);
  }
}

/** Faults that further reading may still correct. */
function isOpen({ fault }: Finding): boolean {
  return fault === 'lost' || fault === 'kept';
}

function judgeAll({ folder, vendors }: Stage, source: Source, deletions: boolean): Verdict {
  const sinks: [string, SinkUnderJudgement][] = [
    ['archive', { kind: 'file', lines: heldByFile(folder), accepts: notRefused }],
    ...hookSinks.map((name): [string, SinkUnderJudgement] => [
      name,
      { kind: 'webhook', lines: heldByReceiver(folder, name), accepts: obtained },
    ]),
  ];
  const { portal, contacts: objectType } = vendors.hubSpot.account;
  const contacts = portal.all(objectType).map(({ values }) => Object.fromEntries(values));
  const messages = [...vendors.slack.workspace.channels.values()].flatMap(({ all }) => all);
  return new Map([
    ...sinks.map(
      ([name, sink]) => [name, { lines: sink.lines.length, findings: judge(sink, source, { deletions }) }] as const,
    ),
    ['crm', { lines: contacts.length, findings: judgeContacts(contacts, source) }],
    [
      'talk',
      { lines: messages.length, findings: judgeMessages(messages, source, { deletions, isWanted: isToldInSlack }) },
    ],
  ]);
}
