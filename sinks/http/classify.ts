import { fieldsOf, type Result } from '../sink.js';
import { booleanValue, type Expression, type MappingView } from '../mapping/expression.js';
import { MappingError } from '../mapping/mapping-error.js';
import { parsedJson } from '../network/read-answer.js';
import type { Answer } from './client.js';
import type { AcceptRule, Purpose } from './config.js';

/** The meaning of an answer for one item. `missing`: the receiver no longer has the record. */
export type Verdict = (
  | Exclude<Result, { kind: 'unknown' | 'unsent' }>
  | { readonly kind: 'missing'; readonly detail: string }
) & {
  readonly id?: string | number | undefined;
};

/** The settings with which a sink interprets answers. */
export interface Reading {
  /** The sink's name, for messages about its expressions. */
  readonly name: string;
  readonly host: string;
  readonly accept: readonly AcceptRule[];
  readonly results?: Expression | undefined;
  /** True with `revisions: every`: the receiver stores events, not records. */
  readonly isLog: boolean;
}

export interface Asked {
  readonly purpose: Purpose | 'check';
  /** Whether the request removes a record, so that nothing is left to do if there is none. */
  readonly removes: boolean;
  /** The bodies of its items. */
  readonly items: readonly unknown[];
  readonly idFrom?: Expression | undefined;
  /** List and key of the item, for messages about failing expressions. */
  readonly label: string;
}

/**
 * Returns the meaning of an answer for each item of its request. The first rule of `accept` that is true decides,
 * otherwise the HTTP status. If the request succeeded, `results` decides for each item. Never throws.
 */
export async function classifyAnswer(answer: Answer, asked: Asked, reading: Reading): Promise<Verdict[]> {
  const verdicts = await meanings(answer, asked, reading);
  if (verdicts.every(({ kind }) => kind !== 'rejected' && kind !== 'retry')) return verdicts;
  const excerpt = answer.excerpt();
  if (excerpt === undefined) return verdicts;
  return verdicts.map((verdict) =>
    verdict.kind === 'rejected' || verdict.kind === 'retry' ? { ...verdict, answer: excerpt } : verdict,
  );
}

async function meanings(answer: Answer, asked: Asked, reading: Reading): Promise<Verdict[]> {
  const view = viewOf(answer, asked);
  const everyItem = (verdict: Verdict): Verdict[] => asked.items.map(() => verdict);
  try {
    const found = (await byRule(answer, view, reading)) ?? byStatus(answer, asked, reading);
    const verdict = found.kind === 'missing' ? missing(found, asked, answer, reading) : found;
    if (verdict.kind !== 'delivered') return everyItem(verdict);
    if (reading.results !== undefined && asked.purpose !== 'find' && asked.purpose !== 'check') {
      return itemByItem(await reading.results.evaluate(view, `${reading.name}.results`), answer, asked, reading);
    }
    if (asked.idFrom === undefined || asked.items.length !== 1) return everyItem(verdict);
    const id = idOf(await asked.idFrom.evaluate(view, `${reading.name}.idFrom`));
    return [{ ...verdict, ...(id !== undefined && { id }) }];
  } catch (error) {
    if (!(error instanceof MappingError)) throw error;
    // A rule can fail because the answer is the error page of a proxy. That must not make the item a dead letter.
    const plain = byStatus(answer, asked, reading);
    if (plain.kind === 'retry' || plain.kind === 'pause') return everyItem(plain);
    return everyItem({ kind: 'rejected', cause: error.causeCode, detail: error.message });
  }
}

/**
 * Returns the verdict for `missing`, depending on the request. A removal is done, because there is nothing to remove. A
 * creation is repeated. For any other request, the caller creates the record again, except in a log: it has no records,
 * so the event is rejected.
 */
function missing(
  verdict: Extract<Verdict, { kind: 'missing' }>,
  { purpose, removes }: Asked,
  { status }: Answer,
  { isLog }: Reading,
): Verdict {
  if (removes) return { ...verdict, kind: 'delivered' };
  if (purpose === 'create') return { ...verdict, kind: 'retry' };
  return isLog ? { ...verdict, kind: 'rejected', cause: `http:${status}` } : verdict;
}

/** Whether an answer could be read: it is not too long, not an HTML page, and not truncated JSON. */
export function isReadable({ body, headers }: Answer): boolean {
  if (typeof body !== 'string') return body !== undefined;
  return body.trim() === '' || !/html|json/i.test(headers['content-type'] ?? '') || parsedJson(body) !== undefined;
}

/** Returns a value if it can be an id; otherwise undefined. */
function idOf(value: unknown): string | number | undefined {
  const isId = (typeof value === 'string' && value !== '' && value.length <= 500) || typeof value === 'number';
  return isId ? value : undefined;
}

/**
 * Returns the data that expressions about answers can read. It contains the request's body, but no other data of the
 * item.
 */
export function viewOf({ status, body, headers }: Answer, { items, purpose, label }: Asked): MappingView {
  const [list = '', key = ''] = label.split(':');
  const change = { list, key, timestamp: '1970-01-01T00:00:00.000Z' };
  return { status, body, headers, items, request: purpose, change } as unknown as MappingView;
}

async function byRule(
  answer: Answer,
  view: MappingView,
  { name, host, accept }: Reading,
): Promise<Verdict | undefined> {
  for (const [at, { when, outcome, cause, after, detail }] of accept.entries()) {
    const key = `${name}.accept[${at}]`;
    if (!booleanValue(await when.evaluate(view, `${key}.when`))) continue;
    const code = codeOf(await cause?.evaluate(view, `${key}.cause`));
    return verdictOf(outcome, { answer: { ...answer, afterMs: answer.afterMs ?? after }, host, code, advice: detail });
  }
  return undefined;
}

const sentences = {
  delivered: 'accepted it',
  retry: 'does not accept it now',
  rejected: 'refuses it',
  pause: 'accepts nothing',
  missing: 'no longer has the record',
} as const;

interface Said {
  readonly answer: Answer;
  readonly host: string;
  readonly code: string | undefined;
  readonly advice?: string | undefined;
}

function verdictOf(outcome: keyof typeof sentences, { answer, host, code, advice }: Said): Verdict {
  const { status, afterMs } = answer;
  const detail = `${host} ${sentences[outcome]} (HTTP ${status}${code === undefined ? '' : `, ${code}`})${advice === undefined ? '' : `: ${advice}`}`;
  switch (outcome) {
    case 'retry':
      return { kind: 'retry', detail, ...(afterMs !== undefined && { afterMs }) };
    case 'rejected':
      return { kind: 'rejected', cause: code ?? `http:${status}`, detail };
    case 'pause':
      return { kind: 'pause', cause: 'credential', detail };
    default:
      return { kind: outcome, detail };
  }
}

/**
 * Classifies an answer by its status only. If the address, the credentials or the receiver are at fault, the request is
 * retried or the sink pauses, and the item is not rejected. Source: RFC 9110, 15.
 */
function byStatus(answer: Answer, { purpose, removes }: Asked, { host, isLog }: Reading): Verdict {
  const { status } = answer;
  const said = { answer, host, code: undefined };
  if (status >= 200 && status < 300) return verdictOf('delivered', said);
  if (status < 400) {
    return verdictOf('retry', {
      ...said,
      advice: 'it redirects, and pigeonpost does not follow redirects: set "baseUrl" to the final address',
    });
  }
  switch (status) {
    case 401:
    case 403:
    case 407:
      return verdictOf('pause', { ...said, advice: 'check "auth" and what the credentials may do' });
    case 404:
    case 410:
      if (removes) return { kind: 'delivered', detail: `${host} has no such record any more (HTTP ${status})` };
      if (purpose === 'update' && !isLog) return verdictOf('rejected', said);
      if (status === 410) {
        return {
          kind: 'pause',
          cause: 'gone',
          detail: `${host} answered HTTP 410 (Gone), so it wants no more requests`,
        };
      }
      return verdictOf('retry', { ...said, advice: 'check "baseUrl" and "url"' });
    case 405:
      return verdictOf('retry', { ...said, advice: 'check "method" and "url"' });
    case 408:
    case 425:
    case 429:
      return verdictOf('retry', said);
    default:
      return verdictOf(status < 500 ? 'rejected' : 'retry', said);
  }
}

/** Returns the meaning of an answer for each item. @param found the value of `results` */
function itemByItem(found: unknown, answer: Answer, asked: Asked, reading: Reading): Verdict[] {
  const { host } = reading;
  // if a list has only one entry, JSONata returns the entry instead of the list
  const list: readonly unknown[] = Array.isArray(found) ? found : found === undefined ? [] : [found];
  return asked.items.map((_, at): Verdict => {
    const entry = list[at];
    const { outcome = 'delivered', ...rest } = fieldsOf(entry);
    const word = typeof entry === 'string' ? entry : entry === undefined ? undefined : outcome;
    if (list.length !== asked.items.length || typeof word !== 'string' || !Object.hasOwn(sentences, word)) {
      const detail = `${host} answered HTTP ${answer.status}, and "results" does not return one outcome for each item: correct "results"`;
      return { kind: 'rejected', cause: 'results-unclear', detail };
    }
    const said = verdictOf(word as keyof typeof sentences, { answer, host, code: codeOf(rest['cause']) });
    const verdict = said.kind === 'missing' ? missing(said, asked, answer, reading) : said;
    const id = idOf(rest['id']);
    return { ...verdict, ...(id !== undefined && { id }) };
  });
}

/** Returns a value if it has the form of a code. Any other text could be personal data. */
function codeOf(value: unknown): string | undefined {
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' && /^[A-Za-z0-9][\w.:/-]{0,79}$/.test(text) ? text : undefined;
}
