import { setTimeout as pause } from 'node:timers/promises';
import { killNow } from '../kit/processes.js';
import { control } from './control.js';
import { describeDeed } from './describe-plan.js';
import { countFaults, type Happened, nothingHappened } from './happened.js';
import type { ChaosPlan, Deed, FaultRule, ReceiverMode, ShortAnswers, Victim } from './plan.js';
import { askFor } from './product-api.js';
import { setWorkerClock, type Stage } from './stage.js';

/** Delay of the slow receiver for each change, in ms. */
const slowMs = 40;
const always = 1_000_000_000;
/** Interval between reads, so that three of them happen while a list is short. */
const betweenReadsMs = 700;

/** Answers of a receiver by mode. `refuse` has none. */
const answers: Readonly<Record<Exclude<ReceiverMode, 'refuse'>, object>> = {
  '5xx': { status: 503 },
  '429': { status: 429, retryAfter: '2' },
  hang: { delayMs: 60_000, store: false },
  dropBefore: { drop: true, store: false },
  dropAfter: { drop: true, store: true },
};

/**
 * Carries out the plan with live events running. When it resolves, all faults, quotas and events have ended, and killed
 * processes are being restarted.
 * @param say receives one line per action
 * @returns the number of actions that took effect, for those that can fail to
 */
export async function carryOut(plan: ChaosPlan, stage: Stage, say: (line: string) => void): Promise<Happened> {
  const happened = nothingHappened();
  const { sandboxUrl, hookUrls } = stage;
  await control(hookUrls.slow, 'POST', 'answers', { count: always, delayMs: slowMs });
  await control(sandboxUrl, 'POST', 'thaw', {});
  const startedAt = performance.now();
  const lasting: Promise<void>[] = [];
  const failed = new AbortController();
  for (const { atMs, deed } of plan.deeds) {
    await pause(Math.max(0, atMs - (performance.now() - startedAt)), undefined, { signal: failed.signal });
    say(`${(atMs / 1000).toFixed(1).padStart(6)} s  ${describeDeed(deed)}`);
    const done = carryOutOne(deed, stage, happened);
    done.catch((error: unknown) => failed.abort(error));
    lasting.push(done);
  }
  await pause(Math.max(0, plan.durationMs - (performance.now() - startedAt)));
  await Promise.all(lasting);
  await control(sandboxUrl, 'POST', 'freeze');
  await control(sandboxUrl, 'DELETE', 'faults');
  await control(sandboxUrl, 'PATCH', 'knobs', { quota: null });
  for (const name of ['slow', 'failing'] as const) {
    await stage.receivers[name].untilReady();
    await control(hookUrls[name], 'DELETE', 'answers');
  }
  return happened;
}

async function carryOutOne(deed: Deed, stage: Stage, happened: Happened): Promise<void> {
  const { sandboxUrl } = stage;
  switch (deed.do) {
    case 'kill':
      return await kill(deed.victim, deed.restartAfterMs, stage);
    case 'stop': {
      const stopped = deed.victim === 'parent' ? stage.parent : stage.worker;
      if ((await stopped?.standStill(deed.forMs)) === true) happened.pauses += 1;
      return;
    }
    case 'clock':
      setWorkerClock(stage.folder, deed.aheadMs);
      return;
    case 'short':
      await Promise.all([
        fail(await shortRules(deed, sandboxUrl), deed.forMs, { sandboxUrl, happened }),
        readAgain(deed.times, stage),
      ]);
      return;
    case 'faults':
      return await fail(deed.rules, deed.forMs, { sandboxUrl, happened });
    case 'quota':
      await control(sandboxUrl, 'PATCH', 'knobs', { quota: deed.quota });
      await pause(deed.forMs);
      await control(sandboxUrl, 'PATCH', 'knobs', { quota: null });
      return;
    case 'list':
      await control(sandboxUrl, 'POST', `lists/${deed.list}`, deed.setting);
      return;
    case 'page-size':
      await control(sandboxUrl, 'PATCH', 'knobs', { maxPerPage: deed.maxPerPage });
      return;
    case 'receiver':
      return await failReceiver(deed.mode, deed.forMs, stage);
    case 'burst':
      await control(sandboxUrl, 'POST', 'events', { count: deed.count });
      return;
    case 'poll-now':
      await askFor('poll-now', stage);
  }
}

/** Activates rules, and removes them after `forMs`. */
async function fail(
  rules: readonly FaultRule[],
  forMs: number,
  { sandboxUrl, happened }: { sandboxUrl: string; happened: Happened },
): Promise<void> {
  const { ids } = await control<{ ids: number[] }>(sandboxUrl, 'POST', 'faults', rules);
  await pause(forMs);
  await countFaults(happened, ids, sandboxUrl);
  for (const id of ids) await control(sandboxUrl, 'DELETE', `faults/${id}`);
}

/**
 * Returns a rule for first pages without a filter, which hide most of a list if they are short. Two answers that hide a
 * few items confirm each other immediately (decision 0020), so a later page or a small filtered set must not be short
 * twice.
 */
async function shortRules({ list, pigeonhole, show, times }: ShortAnswers, sandboxUrl: string): Promise<FaultRule[]> {
  const { pigeonholes } = await control<{ pigeonholes: { id: number }[] }>(sandboxUrl, 'GET', 'state');
  const { id } = pigeonholes[pigeonhole % pigeonholes.length]!;
  return [{ kind: 'shortList', list, pigeonhole: id, show, next: times, hasCursor: false, filtered: false }];
}

/** Requests complete reads one after another, so that a list can be short in each of them. */
async function readAgain(times: number, stage: Stage): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    await askFor('sweep', stage);
    await pause(betweenReadsMs);
  }
}

async function kill(victim: Victim, restartAfterMs: number, stage: Stage): Promise<void> {
  const has = (one: Victim): boolean => victim === one || victim === 'everything';
  if (has('temporal')) killNow(stage.temporalPid());
  if (has('worker')) stage.worker?.kill(restartAfterMs);
  if (has('parent')) stage.parent.kill(restartAfterMs);
  if (has('store') && stage.postgres !== undefined) {
    await stage.postgres.kill();
    await pause(restartAfterMs);
    await stage.postgres.startAgain();
  }
}

async function failReceiver(mode: ReceiverMode, forMs: number, stage: Stage): Promise<void> {
  const receiver = stage.receivers.failing;
  if (mode === 'refuse') return receiver.kill(forMs);
  const url = stage.hookUrls.failing;
  // If the receiver is down, it fails anyway, and the request is not needed.
  await control(url, 'POST', 'answers', { count: always, ...answers[mode] }).catch(() => undefined);
  await pause(forMs);
  await control(url, 'DELETE', 'answers').catch(() => undefined);
}
