import type { Expression } from '../mapping/expression.js';
import { MappingError } from '../mapping/mapping-error.js';
import type { SyntaxNode } from '../mapping/check-syntax.js';
import { mentionedFields } from '../mapping/mentioned-fields.js';
import { reachedLine } from '../network/failure-sentence.js';
import type { CheckLine, SinkEnvironment, OnForget } from '../sink.js';
import { classifyAnswer, type Reading } from './classify.js';
import type { HttpClient, NoAnswer } from './client.js';
import type { HttpConfig, RecordKeys, RequestKeys } from './config.js';
import { needsId, type RequestView, writeRequest } from './write-request.js';

interface Checking extends Pick<SinkEnvironment, 'onForget'> {
  readonly client: HttpClient;
  readonly reading: Reading;
}

/**
 * Checks whether the receiver can be reached and, with the `check` request, whether it accepts the credentials. Also
 * returns warnings about each entry of `records`. Never throws.
 */
export async function checkReceiver(
  config: HttpConfig,
  { client, reading, onForget }: Checking,
  signal: AbortSignal,
): Promise<CheckLine[]> {
  const line =
    config.check === undefined ? await reached(client, signal) : await asked(config, client, reading, signal);
  return [
    line,
    ...config.records.flatMap((record) => [
      ...removalLines(record, onForget, client.host),
      ...linesFor(record, config, client.host),
    ]),
  ];
}

async function reached(client: HttpClient, signal: AbortSignal): Promise<CheckLine> {
  const answer = await client.reach(signal);
  if (answer.kind === 'none') return { ok: false, text: detailOf(answer.result) };
  const later = 'the check does not test the credentials: add a "check" request to the configuration to test them';
  return reachedLine(client.host, answer.status, { key: 'baseUrl', later });
}

async function asked(
  config: HttpConfig,
  client: HttpClient,
  reading: Reading,
  signal: AbortSignal,
): Promise<CheckLine> {
  try {
    const request = await writeRequest(config.check!, config.headers, nothing, `${reading.name}.check`);
    const answer = await client.call(request, signal);
    if (answer.kind === 'none') return { ok: false, text: detailOf(answer.result) };
    const [verdict] = await classifyAnswer(
      answer,
      { purpose: 'check', removes: false, items: [null], label: 'check:' },
      reading,
    );
    if (verdict!.kind === 'delivered') return { ok: true, text: `${client.host} accepts the credentials` };
    return { ok: false, text: verdict!.detail ?? '' };
  } catch (error) {
    if (!(error instanceof MappingError)) throw error;
    return { ok: false, text: error.message };
  }
}

/** The view for expressions of the `check` request, which concerns no item. */
const nothing = {
  item: null,
  previous: null,
  attendee: null,
  session: null,
  pigeonhole: null,
  change: { list: 'check', key: '', timestamp: '1970-01-01T00:00:00.000Z' },
  properties: {},
  record: { id: undefined },
} as unknown as RequestView;

/** Returns a warning about an entry whose requests cannot remove all its records. */
function removalLines(record: RecordKeys, onForget: OnForget, host: string): CheckLine[] {
  if (record.delete !== undefined) return foundLines(record, onForget);
  const isCleared = record.forget !== undefined && onForget !== 'delete'; // `onForget: delete` never sends "forget"
  const when = isCleared ? 'an item is deleted' : 'an item is deleted or a person is forgotten';
  return [
    {
      ok: true,
      warning: true,
      text: `${record.name}: there is no "delete" request, so what was sent stays at ${host} when ${when}`,
    },
  ];
}

/** Returns a warning if the found records of a forgotten person can be neither deleted nor cleared. */
function foundLines({ name, find, forget }: RecordKeys, onForget: OnForget): CheckLine[] {
  const isDecided = onForget === 'delete' || onForget === 'manual';
  if (find === undefined || forget !== undefined || isDecided) return [];
  const text = `${name}: "delete" deletes only records that pigeonpost created: add a "forget" request to clear a record that "find" returned when its person is forgotten, or set "onForget: delete" for the sink`;
  return [{ ok: true, warning: true, text }];
}

/** Returns warnings about mistakes in an entry's requests that no answer of the receiver would reveal. */
function linesFor(record: RecordKeys, config: HttpConfig, host: string): CheckLine[] {
  const { name, create, find } = record;
  const lines: CheckLine[] = [];
  const isRepeatable =
    create === undefined ||
    !canBePost(create.method) ||
    config.idempotencyHeader !== undefined ||
    (create.body !== undefined && readsChangeId(create.body)); // a receiver can detect a repeat by the change's id
  if (!isRepeatable && find === undefined) {
    const text = `${name}: if the answer to a POST is lost, it is sent again: make sure that ${host} recognizes a repeat, or add "find" or "idempotencyHeader"`;
    lines.push({ ok: true, warning: true, text });
  }
  for (const purpose of ['update', 'delete', 'forget'] as const) {
    const keys = record[purpose];
    const isOne = config.batch.size === 1 || create?.batch === undefined; // "idFrom" reads one id per answer, "results" one per item
    const isRead =
      find?.idFrom !== undefined || (isOne && create?.idFrom !== undefined) || config.results !== undefined;
    if (keys === undefined || isRead || !needsId(keys)) continue;
    const text = `${name}.${purpose} reads "record.id", and no "idFrom" or "results" returns an id${isOne ? ': add it to "create"' : ' for each item of a batch: add "results"'}`;
    lines.push({ ok: false, text });
  }
  return lines;
}

/**
 * Whether a method is POST for some item. If the text of an expression does not determine all its results, POST may be
 * one of them.
 */
function canBePost(method: RequestKeys['method']): boolean {
  return typeof method === 'string' ? method === 'POST' : canReturnPost(method.tree);
}

function canReturnPost(node: Conditional | undefined): boolean {
  switch (node?.type) {
    case undefined:
      return false; // no `else`: there is no result, so no request
    case 'string':
      return node.value === 'POST';
    case 'condition':
      return canReturnPost(node.then) || canReturnPost(node.else);
    case 'block':
      return canReturnPost(node.expressions?.at(-1));
    default:
      return true;
  }
}

interface Conditional extends SyntaxNode {
  readonly then?: SyntaxNode;
  readonly else?: SyntaxNode;
  readonly expressions?: readonly SyntaxNode[];
}

function readsChangeId(body: Expression): boolean {
  return mentionedFields(body).some(({ of, ...rest }) => of === 'change' && 'path' in rest && rest.path[0] === 'id');
}

function detailOf(result: NoAnswer['result']): string {
  return ('detail' in result ? result.detail : undefined) ?? 'the check was stopped';
}
