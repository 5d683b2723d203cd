import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { json as jsonOf } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { AnswerAt, AskedAt, PathOf } from '../api/routes.js';
import { filledAddress } from '../base/filled-address.js';
import { CommandError, ExitCode } from './exit-code.js';
import { type ApiAddress, findInstance, type InstanceConfig, nobodyAnswers, checkGiven } from './find-instance.js';
import type { ClientConfig } from '../operations/command-input.js';
import type { Context } from './command.js';

/** Returns the address of a running pigeonpost. The first call finds it; later calls return the same address. */
export type FindAddress = () => Promise<ApiAddress>;

/** Returns the address of the process that `start` runs for this configuration, once it has proven its identity. */
function addressOf(config: InstanceConfig): FindAddress {
  let found: Promise<ApiAddress> | undefined;
  return () => (found ??= findInstance(config));
}

/** Creates a client of the API that `start` serves for this configuration. */
export function apiClientFor(config: InstanceConfig): ApiClient {
  return apiClient(addressOf(config));
}

/**
 * Returns the exit code for an HTTP status. 503 counts as unreachable, because `start` answers with it until it is
 * ready.
 */
function exitCodeFor(status: number): ExitCode {
  if (status === 404) return ExitCode.NotFound;
  if (status === 422) return ExitCode.WrongUse; // the file cannot be used
  return status === 503 ? ExitCode.Unreachable : ExitCode.Failed;
}

/**
 * Returns the error that ends a command after an unsuccessful response.
 * @param body the JSON of the response (problem details, RFC 9457)
 */
function refusalOf(status: number, body: unknown): CommandError {
  const detail = typeof body === 'object' && body !== null && 'detail' in body ? String(body.detail) : `HTTP ${status}`;
  return new CommandError(exitCodeFor(status), detail);
}

const answerMs = 30_000;
/** Timeout of requests that read whole lists of the ledger. */
const countingMs = 5 * 60_000;

/** The HTTP API of a running pigeonpost, as commands use it. */
export type ApiClient = ReturnType<typeof apiClient>;

/** Creates a client. Requests and answers have the types of the API's routes. */
export function apiClient(address: FindAddress) {
  const ask = async (path: string, init: RequestInit): Promise<Response> => {
    const { url, token } = await address();
    const answer = await fetch(`${url}${path}`, { ...init, headers: headersWith(token) }).catch((error: unknown) => {
      throw nobodyAnswers(url, error);
    });
    if (answer.ok) return answer;
    throw refusalOf(answer.status, await answer.json().catch(() => undefined));
  };
  const get = async <Path extends PathOf<'get'>>(
    path: Path,
    asked: AskedAt<'get', Path>,
    timeoutMs = answerMs,
  ): Promise<AnswerAt<'get', Path>> => {
    const answer = await ask(filledAddress(path, asked), { signal: AbortSignal.timeout(timeoutMs) });
    return (await answer.json()) as AnswerAt<'get', Path>;
  };
  const post = async <Path extends PathOf<'post'>>(
    path: Path,
    asked: AskedAt<'post', Path>,
    timeoutMs = answerMs,
  ): Promise<AnswerAt<'post', Path>> => {
    const body = JSON.stringify((asked as { readonly json: unknown }).json);
    const answer = await ask(filledAddress(path, asked), {
      method: 'POST',
      body,
      signal: AbortSignal.timeout(timeoutMs),
    });
    return (await answer.json()) as AnswerAt<'post', Path>;
  };
  return {
    /** `items` adds the number of items by list; `counts` adds the counts by list and sink. */
    status: ({ counts, items = false }: { readonly counts: boolean; readonly items?: boolean }) =>
      get('/api/status', { query: { counts: counts ? '' : items ? 'items' : undefined } }),
    overview: () => get('/api/overview', {}),
    ready: ({ id, workspace }: { readonly id: string; readonly workspace?: string }) =>
      get('/api/pigeonholes/{id}/ready', { params: { id }, query: { workspace } }, countingMs),
    act: (json: Json<'/api/actions'>) => post('/api/actions', { json }),
    testSink: (name: string) => post('/api/sinks/{name}/test', { params: { name }, json: {} }, 60_000),
    deletions: () => get('/api/deletions', {}),
    heldDeletions: (id: number) => get('/api/deletions/{id}', { params: { id } }),
    decideDeletions: (id: number, json: Json<'/api/deletions/{id}'>) =>
      post('/api/deletions/{id}', { params: { id }, json }),
    deadLetters: (query: Query<'/api/dead-letters'>) => get('/api/dead-letters', { query }),
    deadLetterItems: (query: Query<'/api/dead-letters'>) => get('/api/dead-letters/items', { query }),
    redriveDeadLetters: (json: Json<'/api/dead-letters/redrive'>) => post('/api/dead-letters/redrive', { json }),
    /** `personal` includes personal data; pigeonpost audits such a request. */
    preview: (json: Json<'/api/preview'>, { personal }: { readonly personal: boolean }) =>
      post('/api/preview', { query: { personal: personal ? '1' : undefined }, json }, countingMs),
    why: async (query: Query<'/api/why'>) => (await get('/api/why', { query })).items,
    items: (params: ListPlace, { personal, ...query }: ItemsQuery) =>
      get('/api/items/{workspace}/{id}/{list}', { params, query: { ...query, personal: personal ? '1' : undefined } }),
    /** Returns the body of the stream of server-sent events, which lasts until the server closes the connection. */
    liveChanges: async (query: Readonly<Record<string, string>>): Promise<ReadableStream<Uint8Array>> =>
      (await ask(filledAddress('/api/changes/live', { query }), {})).body!,
    fields: (query: Query<'/api/fields'>) => get('/api/fields', { query }, countingMs),
    replay: (json: Json<'/api/replays'>) => post('/api/replays', { json }, countingMs),
    planConfiguration: (json: Json<'/api/configuration/plan'>) => post('/api/configuration/plan', { json }, countingMs),
    applyConfiguration: (json: Json<'/api/configuration/apply'>) =>
      post('/api/configuration/apply', { json }, countingMs),
    lookAtEvent: (json: Json<'/api/events/plan'>) => post('/api/events/plan', { json }, countingMs),
    /** Runs one cycle; repeat it until nothing is left. */
    applyEvent: (json: Json<'/api/events/apply'>) => post('/api/events/apply', { json }, countingMs),
    alerts: () => get('/api/alerts', {}),
    testAlerts: () => post('/api/alerts/test', { json: {} }),
    planErasure: (attendee: string) => post('/api/erasures/plan', { json: { attendee } }, countingMs),
    forget: (json: Json<'/api/erasures'>) => post('/api/erasures', { json }, countingMs),
    erasures: (query: Query<'/api/erasures'>) => get('/api/erasures', { query }),
    forgotten: () => get('/api/forgotten', {}),
    erasure: (id: string) => get('/api/erasures/{id}', { params: { id } }),
    liftErasure: (id: string) => post('/api/erasures/{id}/lift', { params: { id }, json: {} }),
    exportPerson: (attendee: string) => post('/api/persons/export', { json: { attendee } }, countingMs),
    tokens: () => get('/api/tokens', {}),
    createToken: (json: Json<'/api/tokens'>) => post('/api/tokens', { json }),
    revokeToken: (name: string) => post('/api/tokens/{name}/revoke', { params: { name }, json: {} }),
    createPageCode: () => post('/api/page-codes', { json: {} }),
    audit: (query: Query<'/api/audit'>) => get('/api/audit', { query }),
  };
}

type Json<Path extends PathOf<'post'>> = AskedAt<'post', Path> extends { readonly json: infer Body } ? Body : never;
type Query<Path extends PathOf<'get'>> =
  AskedAt<'get', Path> extends { readonly query?: infer Query } ? NonNullable<Query> : never;
type ListPlace = AskedAt<'get', '/api/items/{workspace}/{id}/{list}'>['params'];
type ItemsQuery = Omit<Query<'/api/items/{workspace}/{id}/{list}'>, 'personal'> & { readonly personal: boolean };

function headersWith(token: string | undefined): Record<string, string> {
  const json = { 'content-type': 'application/json' };
  return token === undefined ? json : { ...json, authorization: `Bearer ${token}` };
}

export interface StreamedRequest {
  readonly method?: 'GET' | 'POST';
  readonly path: string;
  readonly body?: string;
  /** Path of a file that is streamed as the body. */
  readonly file?: string;
  readonly signal?: AbortSignal;
  /** Message if the signal stops the request; it says what may have been done. */
  readonly whenStopped?: string;
  readonly onSent?: (bytes: number) => void;
}

/**
 * Yields the body of a successful response in parts.
 * @throws {CommandError} also if the signal stops the response
 */
export async function* askBody(address: FindAddress, request: StreamedRequest): AsyncGenerator<Uint8Array> {
  const answer: AsyncIterable<Uint8Array> = await askStreamed(address, request);
  try {
    yield* answer;
  } catch (error) {
    const { signal, whenStopped } = request;
    throw signal?.aborted === true ? interrupted(signal, whenStopped, error) : error;
  }
}

/**
 * Sends a request whose body or answer may be large. Uses node:http: `fetch` limits how long a response may take.
 * @returns a successful response; its body is still unread
 * @throws {CommandError}
 */
export async function askStreamed(
  address: FindAddress,
  { method, path, body, file, signal, whenStopped, onSent }: StreamedRequest,
): Promise<IncomingMessage> {
  const { url, token } = await address();
  const bytes = file === undefined ? undefined : createReadStream(file);
  if (bytes !== undefined) await once(bytes, 'open').catch((error: unknown) => unreadable(file!, error));
  const sent = (url.startsWith('https:') ? httpsRequest : httpRequest)(`${url}${path}`, {
    method: method ?? 'GET',
    headers: {
      'content-type': file === undefined ? 'application/json' : 'application/octet-stream',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    ...(signal === undefined ? {} : { signal }),
  });
  const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
  // A failed upload is not an error if there is a response, because the server answers before the upload ends if it
  // refuses the file.
  bytes?.on('data', () => onSent?.(bytes.bytesRead));
  const sending = bytes === undefined ? undefined : pipeline(bytes, sent).catch(() => undefined);
  if (bytes === undefined) sent.end(body);
  const [answer] = await answered.catch((error: unknown) => {
    bytes?.destroy();
    if (signal?.aborted === true) throw interrupted(signal, whenStopped, error);
    throw nobodyAnswers(url, error);
  });
  if (answer.statusCode !== undefined && answer.statusCode < 300) return answer;
  const problem: unknown = await jsonOf(answer).catch(() => undefined);
  bytes?.destroy();
  await sending;
  throw refusalOf(answer.statusCode ?? 0, problem);
}

function interrupted(signal: AbortSignal, whenStopped: string | undefined, cause: unknown): CommandError {
  const { name } = signal.reason as { readonly name?: unknown };
  if (name !== 'TimeoutError') return new CommandError(ExitCode.Failed, whenStopped ?? 'stopped', { cause });
  const message = 'the running pigeonpost does not answer: check "pigeonpost status"';
  return new CommandError(ExitCode.Unreachable, message, { cause });
}

function unreadable(file: string, error: unknown): never {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
  const why = code === 'ENOENT' ? 'the file does not exist' : `the file cannot be read (${code})`;
  throw new CommandError(ExitCode.WrongUse, `${file}: ${why}; check the path`, { cause: error });
}

/** The running pigeonpost that a command contacts. */
interface Instance {
  /** The configuration at `--config`; undefined with `--url`, because there may be no file. */
  readonly config: ClientConfig | undefined;
  readonly address: FindAddress;
  readonly client: ApiClient;
  /** The workspaces in the configuration; empty if there is no configuration. */
  readonly workspaces: readonly string[];
}

/**
 * Returns the instance of the file at `--config`, or the one at `--url`. Sends nothing.
 * @throws {ConfigError} for an invalid file; {CommandError} for an invalid address
 */
export async function instanceOf(context: Context): Promise<Instance> {
  const { loadClientConfig } = await import('../operations/command-input.js');
  const given = await givenAddress(context);
  if (given !== undefined) {
    let found: ReturnType<FindAddress> | undefined;
    const address: FindAddress = () => (found ??= checkGiven(given));
    return { config: undefined, address, client: apiClient(address), workspaces: [] };
  }
  const config = await loadClientConfig(context.config);
  const address = addressOf(config);
  return { config, address, client: apiClient(address), workspaces: config.workspaces };
}

/** Returns the client of `instanceOf`. */
export async function clientOf(context: Context): Promise<ApiClient> {
  return (await instanceOf(context)).client;
}

/**
 * Returns the address of `--url` and its token, from PIGEONPOST_TOKEN or `--token`. PIGEONPOST_TOKEN is safer, because
 * other accounts of the machine can read `--token`.
 */
async function givenAddress({ url, token: given }: Context): Promise<{ url: string; token: string } | undefined> {
  const { tokenOfEnvironment } = await import('../operations/command-input.js');
  if (url === undefined) return undefined;
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol) || parsed.username !== '') {
    throw new CommandError(ExitCode.WrongUse, '--url is not an address: give one such as http://127.0.0.1:8088');
  }
  const token = given ?? tokenOfEnvironment();
  if (token === '') {
    throw new CommandError(
      ExitCode.WrongUse,
      '--url needs a token of the pigeonpost at this address: set PIGEONPOST_TOKEN, or add --token TOKEN',
    );
  }
  return { url: url.replace(/\/+$/, ''), token };
}

/** A page of a long list of the API. */
export interface Part<Item> {
  readonly items: readonly Item[];
  readonly next: string | null;
}

/** The request for one page of a long list. */
export interface PartAsked {
  readonly limit: number;
  /** `next` of the previous page. */
  readonly after?: string | undefined;
}

export function partQuery({ limit, after }: PartAsked): string {
  return new URLSearchParams({ limit: String(limit), ...(after === undefined ? {} : { after }) }).toString();
}

/** Maximum page size of the API. */
const maxPageSize = 500;

/** Reads the first `limit` items of a list, page by page, and returns whether there are more. */
export async function firstOfList<Item>(
  limit: number,
  ask: (part: PartAsked) => Promise<Part<Item>>,
): Promise<{ readonly items: readonly Item[]; readonly more: boolean }> {
  const items: Item[] = [];
  let after: string | null | undefined;
  while (items.length < limit && after !== null) {
    const part: Part<Item> = await ask({ limit: Math.min(limit - items.length, maxPageSize), after });
    items.push(...part.items);
    after = part.next;
  }
  return { items, more: after !== null };
}

/** Printed if the list has more items than were requested. */
export const thereIsMore = 'there are more: raise --limit to show them';
