import { createHash } from 'node:crypto';
import { chunksOf, groupBy } from '../../base/grouping.js';
import { MappingError } from '../mapping/mapping-error.js';
import type { MappingView } from '../mapping/expression.js';
import { carrying, withoutAnswers } from '../network/exchange-log.js';
import { type PartReply, sendInParts } from '../records/send-in-parts.js';
import { worstOf } from '../records/worst-result.js';
import type { SendResult, Outcome } from '../sink.js';
import { classifyAnswer, isReadable, type Reading, type Verdict } from './classify.js';
import { CONNECTIONS, type HttpClient } from './client.js';
import type { HttpConfig, RequestKeys } from './config.js';
import type { HttpOperation, MadeRecord, Step } from './plan.js';
import { bodyText, type PlannedRequest } from './write-request.js';

interface Sending {
  readonly config: HttpConfig;
  readonly client: HttpClient;
  readonly reading: Reading;
  readonly signal: AbortSignal;
  /** Called before each request. Once it returns false, no more requests start. */
  readonly mayBegin: () => boolean;
  /** Unix time in ms. */
  readonly now: () => number;
}

/**
 * Makes the requests of a batch of operations. Requests for the same item run in order, others concurrently. Never
 * throws.
 */
export async function sendOperations(operations: readonly HttpOperation[], sending: Sending): Promise<SendResult> {
  const jobs = operations.map((operation) => operation.steps.map((step) => new Job(operation, step)));
  let isPaused = false;
  const mayBegin = (): boolean => !isPaused && sending.mayBegin() && !sending.signal.aborted;
  const held = new Set<string>();
  for (const wave of wavesOf(jobs.flat())) {
    const groups = groupsOf(
      wave.filter(({ orderKey }) => !held.has(orderKey)),
      sending,
    ).values();
    const work = async (): Promise<void> => {
      // All concurrent loops share this iterator, so each group is sent once.
      for (const group of groups) {
        if (!mayBegin()) return;
        await sendGroup(group, { ...sending, mayBegin });
        // Once the day's requests are used up, the rest stays unsent, so that it uses up no attempts.
        if (group.some(({ verdict }) => verdict?.kind === 'pause') || sending.client.usedUpForMs > 0) isPaused = true;
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, work));
    for (const job of wave) if (!job.isSettled) held.add(job.orderKey);
  }
  const keepsObjects = sending.config.revisions === 'latest';
  return { outcomes: operations.map((operation, at) => outcomeOf(operation, jobs[at]!, keepsObjects)) };
}

/** Groups the jobs that can share a request, in the order in which the groups first appear. */
function groupsOf(jobs: readonly Job[], { config, now }: Sending): Job[][] {
  const alike = groupBy(jobs, (job) => {
    const { record, purpose, request } = job.step;
    const { body: _, ...shared } = request;
    const isBatched = config.batch.size > 1 && keysOf(config, job)?.batch !== undefined;
    return JSON.stringify(isBatched ? [record, purpose, shared] : job.orderKey);
  });
  return [...alike.values()].flatMap((group) => {
    const full = chunksOf(group, config.batch.size);
    const rest = full.at(-1)!;
    if (rest.length === config.batch.size || !waits(rest, config.batch.maxAgeMs, now())) return full;
    return full.slice(0, -1);
  });
}

/**
 * Whether a request that is not full waits for more items. Time is divided into windows of length `maxAge`. An item
 * waits until the end of the window in which its change was found, so all changes of a window are due together,
 * whichever process sends them. Removals do not wait.
 */
function waits(jobs: readonly Job[], maxAgeMs: number, nowMs: number): boolean {
  if (maxAgeMs === 0 || jobs.some(({ step }) => step.purpose === 'delete' || step.purpose === 'forget')) return false;
  const dueAtMs = Math.min(...jobs.map(({ operation }) => (Math.floor(operation.foundAtMs / maxAgeMs) + 1) * maxAgeMs));
  const afterMs = Math.min(dueAtMs - nowMs, maxAgeMs);
  if (afterMs <= 0) return false;
  for (const job of jobs) job.verdict = { kind: 'unsent', afterMs };
  return true;
}

/** Sends jobs that share a request. If the receiver refuses it as a whole, the faulty item is searched for. */
async function sendGroup(group: readonly Job[], sending: Sending): Promise<void> {
  const wanted: Job[] = [];
  for (const job of group) {
    if (!sending.mayBegin()) return;
    if (job.step.find === undefined || (await isNotFound(job, sending))) wanted.push(job);
    if (job.verdict?.kind === 'pause') return;
  }
  await sendInParts([wanted], (part) => sendTogether(part, sending), sending.mayBegin);
}

/** Makes one request. */
async function sendTogether(wanted: readonly Job[], sending: Sending): Promise<PartReply<Job>> {
  const { client, config, reading, signal } = sending;
  const [first] = wanted as [Job];
  const keys = keysOf(config, first)!;
  const items = wanted.map(({ step }) => step.request.body);
  const request = await wrapped(wanted, keys, sending);
  if (!('method' in request)) {
    if (request.verdict.cause === 'too-large' && wanted.length > 1) return { accepted: true, again: wanted };
    for (const job of wanted) job.verdict = request.verdict;
    return { accepted: true, again: [] };
  }
  const { purpose } = first.step;
  const changeIds = wanted.map(({ operation }) => operation.changeId);
  const answer = await carrying(changeIds, () => client.call(request, signal, idempotencyKeyOf(wanted)));
  const mayBeDone = answer.kind === 'none' ? answer.mayHaveArrived === true : answer.status >= 500;
  if (purpose === 'create') for (const job of wanted) job.mayExist = mayBeDone;
  if (answer.kind === 'none') {
    for (const job of wanted) job.verdict = answer.result;
    return 'over';
  }
  const isRemoval = purpose === 'delete' || purpose === 'forget';
  // A log has no record that could be missing: unless the method is DELETE, the request adds an event about a removal.
  const removes = isRemoval && (!reading.isLog || request.method === 'DELETE');
  const asked = { purpose, removes, items, idFrom: keys.idFrom, label: labelOf(first) };
  const verdicts = await classifyAnswer(answer, asked, reading);
  // Without "results", every answer applies to the whole request.
  const isAboutWhole = answer.status >= 400 || config.results === undefined;
  const isRefusedWhole = isAboutWhole && verdicts.every(({ kind }) => kind === 'rejected');
  if (isRefusedWhole && wanted.length > 1) return { accepted: false, again: wanted };
  wanted.forEach((job, at) => (job.verdict = verdicts[at]));
  const isFailed = isAboutWhole && verdicts.every(({ kind }) => kind === 'retry' || kind === 'pause');
  return isFailed ? 'over' : { accepted: !isRefusedWhole, again: [] };
}

/** Looks for an existing record of the item. @returns true only if the receiver certainly has none */
async function isNotFound(job: Job, { client, config, reading, signal }: Sending): Promise<boolean> {
  if (job.isLookedUp) return true;
  const keys = config.records.find(({ name }) => name === job.step.record)!.find!;
  const answer = await carrying([job.operation.changeId], () =>
    withoutAnswers(() => client.call(job.step.find!, signal)),
  );
  if (answer.kind === 'none') {
    job.verdict = answer.result;
    return false;
  }
  if (answer.status === 404) return (job.isLookedUp = true);
  const asked = { purpose: 'find', removes: false, items: [null], idFrom: keys.idFrom, label: labelOf(job) } as const;
  const [verdict] = (await classifyAnswer(answer, asked, reading)) as [Verdict];
  if (verdict.kind === 'missing') return (job.isLookedUp = true);
  if (verdict.kind !== 'delivered') {
    job.verdict = verdict;
    return false;
  }
  if (verdict.id === undefined && !isReadable(answer)) {
    // Such an answer does not prove that there is no record, and a creation could produce a second one.
    const detail = `${reading.host} answered "find" with something that is not JSON or is too long (HTTP ${answer.status}): check "url"`;
    job.verdict = { kind: 'retry', detail };
    return false;
  }
  job.isLookedUp = true;
  job.foundId = verdict.id;
  return verdict.id === undefined;
}

/** Returns the request for these jobs, or the verdict that says why it cannot be made. */
async function wrapped(
  jobs: readonly Job[],
  keys: RequestKeys,
  { config, reading }: Sending,
): Promise<PlannedRequest | { readonly verdict: Extract<Verdict, { kind: 'rejected' }> }> {
  const [first] = jobs as [Job];
  const { request } = first.step;
  let { body } = request;
  if (keys.batch !== undefined) {
    const items = jobs.map(({ step }) => step.request.body ?? null);
    const change = changeOf(first);
    try {
      body = await keys.batch.evaluate({ items, change } as unknown as MappingView, `${reading.name}.batch`);
    } catch (error) {
      if (!(error instanceof MappingError)) throw error;
      return { verdict: { kind: 'rejected', cause: error.causeCode, detail: error.message } };
    }
  }
  const bytes = body === undefined ? 0 : Buffer.byteLength(bodyText(body, request.encoding));
  if (bytes > config.maxBytes) {
    const detail = `${reading.host} accepts ${config.maxBytes} bytes at most, and the body has ${bytes}: shorten it with $truncate`;
    return { verdict: { kind: 'rejected', cause: 'too-large', detail } };
  }
  const { body: _, ...rest } = request;
  return { ...rest, ...(body !== undefined && { body }) };
}

function keysOf(config: HttpConfig, { step }: Job): RequestKeys | undefined {
  return config.records.find(({ name }) => name === step.record)?.[step.purpose];
}

/** Returns a key that is the same for every repeat of a request, and different for every other request. */
function idempotencyKeyOf(jobs: readonly Job[]): string {
  const text = JSON.stringify(
    jobs.map(({ operation, step }) => [operation.changeId, step.record, step.purpose, step.sent]),
  );
  const digest = createHash('sha256').update(text).digest('hex');
  // in the form of a UUID, because some receivers accept no other
  return [
    digest.slice(0, 8),
    digest.slice(8, 12),
    `5${digest.slice(13, 16)}`,
    `8${digest.slice(17, 20)}`,
    digest.slice(20, 32),
  ].join('-');
}

function changeOf({ operation }: Job): { list: string; key: string; timestamp: string } {
  const [, , list, key] = JSON.parse(operation.itemKey) as [string, number, string, string];
  return { list, key, timestamp: new Date(operation.foundAtMs).toISOString() };
}

function labelOf(job: Job): string {
  const { list, key } = changeOf(job);
  return `${list}:${key}`;
}

/** One step of an operation with its result. */
class Job {
  verdict: Verdict | { readonly kind: 'unsent'; readonly afterMs?: number } | undefined;
  /** The id of the existing record that `find` returned. */
  foundId: string | number | undefined;
  /** Whether `find` was sent and answered. */
  isLookedUp = false;
  /** Whether the receiver may have created the record without an answer that says so. */
  mayExist = false;

  constructor(
    readonly operation: HttpOperation,
    readonly step: Step,
  ) {}

  /** Steps with the same key run in order. */
  get orderKey(): string {
    return `${this.step.record} ${this.operation.itemKey}`;
  }

  get isSettled(): boolean {
    return this.verdict?.kind === 'delivered' || this.verdict?.kind === 'rejected';
  }
}

/**
 * Returns the outcome of an operation, which is that of its worst step. The object has the record of each delivered
 * step, so that only the other steps are sent again.
 */
function outcomeOf({ made, notForgotten }: HttpOperation, jobs: readonly Job[], keepsObjects: boolean): Outcome {
  const records: Record<string, MadeRecord> = { ...made };
  for (const job of jobs) note(records, job);
  const worst = worstOf(jobs.map(resultOf));
  const isRejected = worst.kind === 'delivered' && notForgotten !== undefined;
  const outcome: Outcome = isRejected ? { kind: 'rejected', ...notForgotten } : worst;
  if (!keepsObjects || JSON.stringify(records) === JSON.stringify(made)) return outcome;
  return { ...outcome, object: Object.keys(records).length === 0 ? null : records };
}

/** Updates the receiver's records with the result of a step. @param records changed by this function */
function note(records: Record<string, MadeRecord>, { step, verdict, foundId, mayExist }: Job): void {
  if (mayExist) records[step.record] = { mayExist };
  if (foundId !== undefined) records[step.record] = { id: foundId, found: true };
  if (verdict?.kind === 'missing') delete records[step.record];
  if (verdict?.kind !== 'delivered') return;
  if (step.purpose === 'delete' || step.purpose === 'forget') {
    delete records[step.record];
    return;
  }
  const { mayExist: _, ...before } = records[step.record] ?? {};
  const id = verdict.id ?? before.id;
  records[step.record] = { ...before, sent: step.sent, ...(id !== undefined && { id }) };
}

function resultOf({ verdict, foundId }: Job): Exclude<Outcome, { kind: 'unknown' }> {
  // The engine plans the change again with the record that is now known.
  if (verdict === undefined || verdict.kind === 'missing' || foundId !== undefined) return { kind: 'unsent' };
  if (verdict.kind === 'unsent') return verdict;
  const { id: _, ...result } = verdict;
  return result;
}

/**
 * Divides jobs into waves that run one after another. Each wave contains a key only once, so that jobs with the same
 * key run in order.
 */
function wavesOf(jobs: readonly Job[]): Job[][] {
  const waves: Job[][] = [];
  const next = new Map<string, number>();
  for (const job of jobs) {
    const at = next.get(job.orderKey) ?? 0;
    next.set(job.orderKey, at + 1);
    (waves[at] ??= []).push(job);
  }
  return waves;
}
