import { randomUUID } from 'node:crypto';
import {
  laneParities,
  type LaneParity,
  parityFindings,
  type ParityFinding,
} from '../../delivering/parity/lane-parity.js';
import { SinkAuditor } from '../../delivering/parity/audit-sink.js';
import { readParity, startAudit, startRepair } from '../../operations/audit-sink.js';
import { ageDeliveries } from './age-deliveries.js';
import type { Scene } from './scene.js';
import { starterOf } from './starter-of.js';

const never = new AbortController().signal;

/** Runs delivery cycles with one slice of an audit after each, until nothing is due. Returns the number of slices. */
export async function runAudit(scene: Scene, sink: string, maxSlices = 100_000): Promise<number> {
  for (let slices = 0; slices < maxSlices;) {
    const cycle = await scene.deliver(sink);
    if (cycle.nextDueInMs === 0 && cycle.state === 'working') continue;
    // A new auditor each time: the pauses of an auditor are not waited for.
    const waitMs = await new SinkAuditor(scene.deps, sink).next(cycle, never);
    if (waitMs > 1000) return slices;
    slices += 1;
  }
  return maxSlices;
}

/** Requests an audit, some minutes after everything that was delivered until now. */
export async function requestAudit(scene: Scene, sink: string): Promise<void> {
  await ageDeliveries(scene.ledger.db);
  await requestNow(scene, sink);
}

async function requestNow({ deps }: Scene, sink: string): Promise<void> {
  await startAudit({ deps, starter: starterOf(deps) }, { sink, pigeonhole: null });
}

/** Audits right after the last delivery. */
export async function auditNow(scene: Scene, sink: string): Promise<void> {
  await requestNow(scene, sink);
  await runAudit(scene, sink);
}

export async function audit(scene: Scene, sink: string): Promise<void> {
  await requestAudit(scene, sink);
  await runAudit(scene, sink);
}

/** Confirms the plan of a repair and carries it out. Returns the plan. */
export async function repair(scene: Scene, sink: string) {
  const { deps } = scene;
  const { plan } = await readParity(deps, { sink, workspace: null, pigeonholeId: null }, true);
  await startRepair({ deps, starter: starterOf(deps) }, sink, {
    id: randomUUID(),
    pigeonhole: null,
    until: plan.until,
  });
  await runAudit(scene, sink);
  return plan;
}

const everything = { workspace: null, pigeonholeId: null };

export async function findings({ ledger }: Scene, sink: string): Promise<ParityFinding[]> {
  return await parityFindings(ledger, { sink, ...everything, class: null, item: null, after: 0, limit: 100_000 });
}

/** Returns each finding as text, such as `changed attendees:7 Name`, sorted. */
export async function findingTexts(scene: Scene, sink: string): Promise<string[]> {
  const found = await findings(scene, sink);
  return found
    .map((each) => [each.class, `${each.list}:${each.key}`, each.copy ?? each.fields.join(',')].join(' ').trim())
    .toSorted();
}

/** Returns the counts of all lanes of a sink together. */
export async function parityCounts({ ledger }: Scene, sink: string): Promise<LaneParity['counts']> {
  const lanes = await laneParities(ledger, { sink, ...everything });
  const total: Record<string, number> = {};
  for (const { counts } of lanes) {
    for (const [name, count] of Object.entries(counts)) total[name] = (total[name] ?? 0) + count;
  }
  return total as LaneParity['counts'];
}
