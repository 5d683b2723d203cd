import { setTimeout as pause } from 'node:timers/promises';
import { killNow } from '../kit/processes.js';
import { control } from './control.js';
import { describeDeed } from './describe-plan.js';
import type { ChaosPlan, Deed, ReceiverMode, Victim } from './plan.js';
import { askFor } from './product-api.js';
import type { Stage } from './stage.js';

/** Delay of the slow receiver for each change, in ms. */
const slowMs = 40;
const always = 1_000_000_000;

/** Answer of a receiver by mode; `refuse` has none. */
const answers: Readonly<Record<Exclude<ReceiverMode, 'refuse'>, object>> = {
  '5xx': { status: 503 },
  '429': { status: 429, retryAfter: '2' },
  hang: { delayMs: 60_000, store: false },
  dropBefore: { drop: true, store: false },
  dropAfter: { drop: true, store: true },
};

/**
 * Does what the plan says at the instants that it says, with live events running. Everything that lasts is over when it
 * resolves: no fault, no quota, no event; whatever was killed is being started again.
 * @param say gets a line for each deed
 */
export async function carryOut(plan: ChaosPlan, stage: Stage, say: (line: string) => void): Promise<void> {
  const { sandboxUrl, hookUrls } = stage;
  await control(hookUrls.slow, 'POST', 'answers', { count: always, delayMs: slowMs });
  await control(sandboxUrl, 'POST', 'thaw', {});
  const startedAt = performance.now();
  const lasting: Promise<void>[] = [];
  const failed = new AbortController();
  for (const { atMs, deed } of plan.deeds) {
    await pause(Math.max(0, atMs - (performance.now() - startedAt)), undefined, { signal: failed.signal });
    say(`${(atMs / 1000).toFixed(1).padStart(6)} s  ${describeDeed(deed)}`);
    const done = carryOutOne(deed, stage);
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
}

async function carryOutOne(deed: Deed, stage: Stage): Promise<void> {
  const { sandboxUrl } = stage;
  switch (deed.do) {
    case 'kill':
      return await kill(deed.victim, deed.restartAfterMs, stage);
    case 'stop': {
      const stopped = deed.victim === 'parent' ? stage.parent : stage.worker;
      await stopped?.standStill(deed.forMs);
      return;
    }
    case 'faults': {
      const { ids } = await control<{ ids: number[] }>(sandboxUrl, 'POST', 'faults', deed.rules);
      await pause(deed.forMs);
      for (const id of ids) await control(sandboxUrl, 'DELETE', `faults/${id}`);
      return;
    }
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
  // It may be down at this moment: then it fails by that, and there is nobody to tell.
  await control(url, 'POST', 'answers', { count: always, ...answers[mode] }).catch(() => undefined);
  await pause(forMs);
  await control(url, 'DELETE', 'answers').catch(() => undefined);
}
