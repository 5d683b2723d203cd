import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { createInterface } from 'node:readline';
import { json as jsonOf } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { ImportAction } from '../../importing/desk/import-request.js';
import type { ImportCheck, ImportReportRow, ImportTarget, ImportView } from '../../importing/desk/import-views.js';
import { type FindAddress, refusalOf, type Part, type PartAsked, partQuery } from '../api-client.js';
import { CommandError, ExitCode } from '../exit-code.js';
import { nobodyAnswers, requestOf } from '../find-instance.js';

/** Query of an upload: the options of the import. */
export type UploadQuery = Readonly<Record<string, string>>;

interface Upload {
  readonly signal: AbortSignal;
  /** Called from time to time with the number of bytes sent. */
  readonly onSent: (bytes: number) => void;
}

/** The import API of a running pigeonpost. All methods reject with CommandError. */
export interface ImportClient {
  target(pigeonhole: string): Promise<ImportTarget>;
  check(file: string, query: UploadQuery, upload: Upload): Promise<ImportCheck>;
  /** CSV of the codes generated for rows without one. */
  generatedCodes(file: string, query: UploadQuery, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
  start(file: string, query: UploadQuery, upload: Upload): Promise<ImportView>;
  list(part: PartAsked): Promise<Part<ImportView>>;
  find(id: string): Promise<ImportView>;
  act(id: string, action: ImportAction): Promise<ImportView>;
  /** Rows that need attention, in the order of the file. */
  problems(id: string): AsyncIterable<ImportReportRow>;
  reportCsv(id: string): Promise<AsyncIterable<Uint8Array>>;
}

/** Timeout of a response, except while the API reads a file. */
const answerMs = 60_000;

interface Ask {
  readonly method?: 'GET' | 'POST';
  readonly path: string;
  readonly body?: string;
  /** File streamed as the body. */
  readonly file?: string;
  readonly signal?: AbortSignal;
  readonly onSent?: (bytes: number) => void;
}

/** Uses node:http: `fetch` gives up on a response after five minutes, and a large file may take longer. */
export function importClient(address: FindAddress): ImportClient {
  const json = async (asked: Ask): Promise<unknown> => {
    const signal = asked.signal ?? AbortSignal.timeout(answerMs);
    return await jsonOf(await ask(address, { ...asked, signal }));
  };
  const upload = (path: string, query: UploadQuery): string => `${path}?${new URLSearchParams(query).toString()}`;
  const of = (id: string): string => `/api/imports/${encodeURIComponent(id)}`;
  return {
    target: async (pigeonhole) => (await json({ path: upload('/api/imports/target', { pigeonhole }) })) as ImportTarget,
    check: async (file, query, how) =>
      (await json({ method: 'POST', path: upload('/api/imports/check', query), file, ...how })) as ImportCheck,
    generatedCodes: (file, query, signal) =>
      ask(address, { method: 'POST', path: upload('/api/imports/codes', query), file, signal }),
    start: async (file, query, how) =>
      (await json({ method: 'POST', path: upload('/api/imports', query), file, ...how })) as ImportView,
    list: async (part) => (await json({ path: `/api/imports?${partQuery(part)}` })) as Part<ImportView>,
    find: async (id) => (await json({ path: of(id) })) as ImportView,
    act: async (id, action) =>
      (await json({ method: 'POST', path: `${of(id)}/actions`, body: JSON.stringify(action) })) as ImportView,
    async *problems(id) {
      const answer = await ask(address, { path: `${of(id)}/report?only=problems` });
      for await (const line of createInterface({ input: answer })) yield JSON.parse(line) as ImportReportRow;
    },
    reportCsv: (id) => ask(address, { path: `${of(id)}/report?format=csv` }),
  };
}

/** @returns a successful response; its body is still unread */
async function ask(address: FindAddress, { method, path, body, file, signal, onSent }: Ask): Promise<IncomingMessage> {
  const { url, token } = await address();
  const bytes = file === undefined ? undefined : createReadStream(file);
  if (bytes !== undefined) await once(bytes, 'open').catch((error: unknown) => unreadable(file!, error));
  const sent = requestOf(url)(`${url}${path}`, {
    method: method ?? 'GET',
    headers: {
      'content-type': file === undefined ? 'application/json' : 'application/octet-stream',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    ...(signal === undefined ? {} : { signal }),
  });
  const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
  // An upload error matters only without a response: the server answers early if it refuses the file.
  bytes?.on('data', () => onSent?.(bytes.bytesRead));
  const sending = bytes === undefined ? undefined : pipeline(bytes, sent).catch(() => undefined);
  if (bytes === undefined) sent.end(body);
  const [answer] = await answered.catch((error: unknown) => {
    bytes?.destroy();
    if (signal?.aborted === true) throw interrupted(signal, error);
    throw nobodyAnswers(url, error);
  });
  if (answer.statusCode !== undefined && answer.statusCode < 300) return answer;
  const problem: unknown = await jsonOf(answer).catch(() => undefined);
  bytes?.destroy();
  await sending;
  throw refusalOf(answer.statusCode ?? 0, problem);
}

function interrupted(signal: AbortSignal, cause: unknown): CommandError {
  const tookTooLong = signal.reason instanceof Error && signal.reason.name === 'TimeoutError';
  return tookTooLong
    ? new CommandError(ExitCode.Unreachable, 'the running pigeonpost does not answer: check "pigeonpost status"', {
        cause,
      })
    : new CommandError(ExitCode.Failed, 'stopped before anything was sent', { cause });
}

function unreadable(file: string, error: unknown): never {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
  const why = code === 'ENOENT' ? 'the file does not exist' : `the file cannot be read (${code})`;
  throw new CommandError(ExitCode.WrongUse, `${file}: ${why}; check the path`, { cause: error });
}
