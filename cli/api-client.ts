import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { Readable } from 'node:stream';
import { json as jsonOf } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { AnswerAt, AskedAt, PathOf } from '../api/routes.js';
import { filledAddress } from '../base/api-client.js';
import { CommandError, ExitCode, wrongUse } from './exit-code.js';
import { unreadable } from './files.js';
import {
  type ApiAddress,
  checkGiven,
  findInstance,
  findNoted,
  type InstanceConfig,
  nobodyAnswers,
} from './find-instance.js';
import { noteMessage, whileWaiting } from './output.js';
import type { ClientConfig } from '../operations/command-input.js';
import type { Context } from './command.js';

/** Returns the address of a running pigeonpost. The first call finds it; later calls return the same address. */
export type FindAddress = () => Promise<ApiAddress>;

function foundOnce(find: FindAddress): FindAddress {
  let found: ReturnType<FindAddress> | undefined;
  return () => (found ??= find());
}

/** Creates a client of the API that `start` serves for this configuration, once that process has proven its identity. */
export function apiClientFor(config: InstanceConfig): ApiClient {
  return apiClient(foundOnce(() => findInstance(config)));
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
  // Only the problems of a file have several lines. Any other sentence may quote a text of others.
  return new CommandError(exitCodeFor(status), status === 422 ? detail : detail.replaceAll(/\s*\n\s*/g, ' '));
}

const answerMs = 30_000;
const slowAnswerMs = 5 * 60_000;
/**
 * Requests that read whole lists of the ledger, or wait for the service or a destination, with the work that a terminal
 * shows meanwhile. Null: the command shows its own progress.
 */
const slowPaths: ReadonlyMap<string, string | null> = new Map<PathOf<'get'> | PathOf<'post'>, string | null>([
  ['/api/pigeonholes/{id}/ready', 'checking the service, the sinks and the people'],
  ['/api/sinks/{name}/test', 'waiting for the answer of the destination'],
  ['/api/preview', 'planning the operations'],
  ['/api/fields', 'reading the stored items'],
  ['/api/replays', 'counting the items'],
  ['/api/configuration/plan', 'counting the changes to send'],
  ['/api/configuration/apply', 'applying the configuration'],
  ['/api/imports', null],
  ['/api/imports/target', 'reading the pigeonhole and its registrants'],
  ['/api/imports/{id}', null],
  ['/api/imports/{id}/actions', null],
  ['/api/events/plan', 'comparing the file with the service'],
  ['/api/events/apply', null],
  ['/api/erasures/plan', 'looking for everything about this person'],
  ['/api/erasures', 'removing the person from the ledger'],
  ['/api/persons/export', 'looking for everything about this person'],
  ['/api/status/recount', 'counting all items and deliveries'],
]);

/** The HTTP API of a running pigeonpost, as commands use it. */
export type ApiClient = ReturnType<typeof apiClient>;

/** Creates a client. Requests and answers have the types of the API's routes. */
export function apiClient(address: FindAddress) {
  const ask = async (method: 'GET' | 'POST', path: string, asked: Asked): Promise<unknown> => {
    const body = asked.json === undefined ? undefined : JSON.stringify(asked.json);
    const signal = AbortSignal.timeout(slowPaths.has(path) ? slowAnswerMs : answerMs);
    const work = () => jsonOf(askBody(address, { method, path: filledAddress(path, asked), body, signal }));
    const words = slowPaths.get(path) ?? null;
    return words === null ? await work() : await whileWaiting(words, work);
  };
  return {
    get: async <Path extends PathOf<'get'>>(path: Path, asked: AskedAt<'get', Path>) =>
      (await ask('GET', path, asked)) as AnswerAt<'get', Path>,
    post: async <Path extends PathOf<'post'>>(path: Path, asked: AskedAt<'post', Path>) =>
      (await ask('POST', path, asked)) as AnswerAt<'post', Path>,
    /** Returns the body of the stream of server-sent events, which lasts until the server closes the connection. */
    liveChanges: async (query: Readonly<Record<string, string>>): Promise<ReadableStream<Uint8Array>> =>
      Readable.toWeb(
        await askStreamed(address, { path: filledAddress('/api/changes/live', { query }) }),
      ) as ReadableStream<Uint8Array>,
  };
}

type Asked = Parameters<typeof filledAddress>[1] & { readonly json?: unknown };

export interface StreamedRequest {
  readonly method?: 'GET' | 'POST';
  readonly path: string;
  readonly body?: string | undefined;
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

/** The running pigeonpost that a command contacts. */
interface Instance {
  /** The configuration at `--config`; undefined with `--url`, because there may be no file. */
  readonly config: ClientConfig | undefined;
  readonly address: FindAddress;
  readonly client: ApiClient;
}

/**
 * Returns the instance of the file at `--config`, or the one at `--url`. Sends nothing.
 * @throws {ConfigError} for an invalid file; {CommandError} for an invalid address
 */
export async function instanceOf(context: Context): Promise<Instance> {
  const given = await givenAddress(context);
  const config = given === undefined ? await usableConfig(context) : undefined;
  const address = foundOnce(() => (given === undefined ? findInstance(config!) : checkGiven(given)));
  return { config, address, client: apiClient(address) };
}

/**
 * Reads the file at `--config`. If it cannot be used, but the pigeonpost that was started with an earlier content of it
 * still runs, returns what is known of that one, and prints what is wrong with the file.
 * @throws {ConfigError} if the file cannot be used, and no pigeonpost of it is found
 */
async function usableConfig({ config: file, out }: Context): Promise<ClientConfig> {
  const { ConfigError, loadClientConfig, salvageClientConfigs } = await import('../operations/command-input.js');
  try {
    return await loadClientConfig(file);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    for (const candidate of await salvageClientConfigs(file)) {
      const { instance, address } = await findNoted(candidate);
      if (address !== undefined) {
        noteMessage(out, `pigeonpost: ${error.message}`);
        out.note(
          `pigeonpost: the running pigeonpost is not affected, but its next start would fail: correct ${file}, then run "pigeonpost check"`,
        );
        return candidate;
      }
      if (instance !== undefined) {
        out.note(
          `pigeonpost: to call the pigeonpost at ${instance.url} before you correct ${file}, add --url ${instance.url} and set PIGEONPOST_TOKEN`,
        );
      }
    }
    throw error;
  }
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
    throw wrongUse('--url is not an address: give one such as http://127.0.0.1:8088');
  }
  const token = given ?? tokenOfEnvironment();
  if (token === '') {
    throw wrongUse('--url needs a token of the pigeonpost at this address: set PIGEONPOST_TOKEN, or add --token TOKEN');
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
