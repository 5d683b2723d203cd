import { z } from '@hono/zod-openapi';
import { instant, pigeonholeName, printable } from '../base/printable.js';
import type { Collaborators } from '../cycles/collaborators.js';
import { numberedLanes, syncsTo } from '../delivering/lane-plans.js';
import {
  type FindingScope,
  laneParities,
  type LaneParity,
  parityFindings,
  type ParityFinding,
  type ParityScope,
  planRepair,
} from '../delivering/parity/lane-parity.js';
import { requestPasses } from '../delivering/parity/parity-store.js';
import { requestRepair } from '../delivering/parity/request-repair.js';
import { isApproved } from '../ledger/approvals.js';
import type { Ledger } from '../ledger/ledger.js';
import { pauseOfSink, placeName } from '../ledger/pauses.js';
import { selectedPigeonholes } from '../ledger/pigeonholes.js';
import type { WorkflowStarter } from './orchestration.js';

const classSchema = z.enum(['same', 'stale', 'changed', 'missing', 'extra', 'unreadable', 'undelivered']);
export const differingClasses = classSchema.exclude(['same']).options;

const countsSchema = z
  .object({
    same: z.int().describe('The destination holds what was delivered, or nothing of a removed item.'),
    stale: z.int().describe('The destination holds an earlier state.'),
    changed: z.int().describe('The destination holds something else.'),
    missing: z.int(),
    extra: z.int().describe('Still there although it should be removed, or another copy with the mark of pigeonpost.'),
    unreadable: z.int().describe('The destination refuses to show it.'),
    undelivered: z
      .int()
      .describe('Not compared, because a delivery of the item is waiting, in progress or a dead letter.'),
  })
  .readonly()
  .openapi('ParityCounts');

const laneParitySchema = z
  .object({
    workspace: z.string(),
    pigeonholeId: z.int(),
    pass: z.enum(['never', 'requested', 'running', 'done']),
    startedAt: instant().nullable().describe('Start of the audit in progress.'),
    endedAt: instant().nullable().describe('End of the last finished audit, to which `counts` and `compared` belong.'),
    compared: z.int().describe('Number of items, or of revisions in a log, that the last finished audit compared.'),
    checked: z.int().describe('Number of items that the audit in progress has compared.'),
    total: z.int().describe('Number of items that it will probably compare.'),
    failure: z.string().nullable().describe('Why the audit in progress waits; null: it does not.'),
    repairing: z.int().describe('Number of findings of a repair in progress.'),
    explained: z
      .int()
      .describe(
        'Of `stale`: those that a changed mapping or a changed session or person explains. They raise no alert.',
      ),
    counts: countsSchema,
  })
  .openapi('LaneParity');

export const paritySchema = z
  .object({
    readable: z.boolean().describe('Whether the destination can be read back, so that an audit is possible.'),
    everyMs: z.int().nullable().describe('Interval of audits that nobody requests; null: there are none.'),
    lanes: z.array(laneParitySchema).readonly(),
    plan: z
      .object({
        until: z.int().describe('Number of the newest finding; a repair names it, so that it contains no newer one.'),
        actions: z
          .object({
            send: z.int().describe('Items, or revisions of a log, that are sent again.'),
            remove: z.int().describe('Removals that are sent again.'),
            'remove-copy': z.int().describe('Copies and lines that are removed directly.'),
          })
          .readonly(),
        byHand: z.int().describe('Findings that only an operator can resolve at the destination.'),
      })
      .readonly()
      .describe('What a repair of all findings would do.'),
  })
  .openapi('Parity');
export type ParityView = z.infer<typeof paritySchema>;

export const findingSchema = z
  .object({
    number: z.int(),
    workspace: z.string(),
    pigeonholeId: z.int(),
    list: z.string(),
    key: z.string(),
    revision: z.int(),
    class: classSchema.exclude(['same']),
    copy: z.string().nullable().describe('Id of a further object at the destination; null: the item itself.'),
    fields: z.array(z.string()).readonly().describe('Names of the fields that differ.'),
    cause: z
      .string()
      .nullable()
      .describe('Of `stale`: what is old (`revision`, `related`, `mapping`). Of `unreadable`: a stable code.'),
    changedBy: z
      .string()
      .nullable()
      .describe('Id or kind of the user or integration that changed it, if the vendor tells.'),
    changedAt: instant().nullable(),
    foundAt: instant(),
    action: z
      .enum(['send', 'remove', 'remove-copy'])
      .nullable()
      .describe('What a repair does about it; null: an operator has to act.'),
    repairing: z.boolean(),
  })
  .openapi('ParityFinding');
export type FindingView = z.infer<typeof findingSchema>;

/** A difference of one item, as `why` shows it. */
export const itemFindingSchema = findingSchema
  .omit({ number: true, workspace: true, pigeonholeId: true, list: true, key: true, repairing: true })
  .extend({ sink: z.string() });

const place = pigeonholeName().nullable().describe('`<workspace>/<id>`; null: every pigeonhole of the sink.');

export const auditRequestSchema = z.strictObject({ pigeonhole: place }).openapi('AuditRequest');

export const repairRequestSchema = z
  .strictObject({
    id: z.uuid().describe('Chosen by the client, so that a repeated request is the same repair.'),
    pigeonhole: place,
    until: z.int().min(0).describe('`plan.until` of the plan that was confirmed.'),
    by: printable(200).optional(),
    reason: printable(500).optional(),
  })
  .openapi('RepairRequest');
export type RepairRequest = z.infer<typeof repairRequestSchema>;

/** `unknown`: a sentence that names what does not exist. `refused`: a sentence that says why it cannot be done now. */
type Refusal = { readonly unknown: string } | { readonly refused: string };

interface AuditingProcess {
  readonly deps: Pick<Collaborators, 'config' | 'ledger' | 'sinks' | 'log'>;
  readonly starter: Pick<WorkflowStarter, 'wakeSinks'>;
}

/** Requests an audit of a sink in one pigeonhole or all of them. The delivery cycles of the sink carry it out. */
export async function startAudit(
  { deps, starter }: AuditingProcess,
  { sink, pigeonhole }: { readonly sink: string; readonly pigeonhole: string | null },
): Promise<Refusal | { readonly lanes: number }> {
  const target = await lanesToAudit(deps, sink, pigeonhole);
  if (!('numbers' in target)) return target;
  await requestPasses(deps.ledger, target.sinkId, target.numbers);
  deps.log.info({ sink, pigeonhole }, 'audit requested');
  await starter.wakeSinks([sink]);
  return { lanes: target.numbers.length };
}

/** Requests a repair of what audits of a sink have found, up to the newest finding of the plan that an operator confirmed. */
export async function startRepair(
  { deps, starter }: AuditingProcess,
  sink: string,
  { id, pigeonhole, until, by, reason }: RepairRequest,
): Promise<Refusal | { readonly findings: number }> {
  const target = await lanesToAudit(deps, sink, pigeonhole);
  if (!('numbers' in target)) return target;
  const pause = await pauseOfSink(deps.ledger, deps.sinks.get(sink)!);
  if (pause !== undefined) {
    return { refused: `sink ${sink} is paused: run "pigeonpost resume sink:${sink}", and then repair it` };
  }
  const scope = { sinkId: target.sinkId, pigeonholeNumbers: target.numbers, until };
  const findings = await requestRepair(deps.ledger, { id, by: by ?? null, reason: reason ?? null }, scope);
  deps.log.info({ sink, pigeonhole, repair: id, findings }, 'repair requested');
  await starter.wakeSinks([sink]);
  return { findings };
}

/** Returns the numbers of the pigeonholes in which a sink is audited. */
async function lanesToAudit(
  { config, ledger, sinks }: AuditingProcess['deps'],
  name: string,
  pigeonhole: string | null,
): Promise<Refusal | { readonly sinkId: number; readonly numbers: readonly number[] }> {
  const open = sinks.get(name);
  if (open === undefined) return { unknown: `no sink ${name} is known` };
  if (open.sink.readBack === undefined) {
    return {
      refused: `sink ${name} cannot be audited: a destination of type ${config.sinks[name]!.type} cannot be read`,
    };
  }
  if (open.observing && !(await isApproved(ledger, open.id, open.destination))) {
    return { refused: `sink ${name} only observes, so it has delivered nothing that could be compared` };
  }
  const lanes = await numberedLanes({ config, ledger }, name, await selectedPigeonholes(ledger, syncsTo(config, name)));
  const numbers = [...lanes].flatMap(([number, lane]) =>
    pigeonhole === null || placeName(lane) === pigeonhole ? [number] : [],
  );
  if (numbers.length === 0) return { unknown: `no pigeonhole ${pigeonhole ?? ''} is delivered to sink ${name}` };
  return { sinkId: open.id, numbers };
}

interface ParitySources {
  readonly config: Collaborators['config'];
  readonly ledger: Ledger;
}

/** Returns what the audits of a sink have found, and what a repair would do. */
export async function readParity(
  { config, ledger }: ParitySources,
  of: ParityScope & { readonly sink: string },
  readable: boolean,
): Promise<ParityView> {
  const [lanes, plan] = await Promise.all([laneParities(ledger, of), planRepair(ledger, of)]);
  const { audit } = config.sinks[of.sink]!;
  return { readable, everyMs: !readable || audit === 'never' ? null : audit, lanes: lanes.map(viewLane), plan };
}

function viewLane({ sink: _, startedAt, endedAt, ...lane }: LaneParity): z.infer<typeof laneParitySchema> {
  return { ...lane, startedAt: startedAt?.toISOString() ?? null, endedAt: endedAt?.toISOString() ?? null };
}

/** Returns findings of audits by number. */
export async function readFindings(ledger: Ledger, of: FindingScope): Promise<FindingView[]> {
  return (await parityFindings(ledger, of)).map(viewFinding);
}

function viewFinding({ sink: _, changedAt, foundAt, ...finding }: ParityFinding): FindingView {
  return { ...finding, changedAt: changedAt?.toISOString() ?? null, foundAt: foundAt.toISOString() };
}

/** Returns the differences that audits have found at one item, by sink. */
export async function findingsOfItem(
  ledger: Ledger,
  { list, key, ...place }: { workspace: string; pigeonholeId: number; list: string; key: string },
): Promise<z.infer<typeof itemFindingSchema>[]> {
  const scope = { ...place, sink: null, class: null, item: { list, key }, after: 0, limit: maxOfItem };
  const found = await parityFindings(ledger, scope);
  return found.map((finding) => itemFindingSchema.parse({ ...viewFinding(finding), sink: finding.sink }));
}

/** Maximum number of findings of one item: a revision of a log can be one. */
const maxOfItem = 50;
