import { createInterface } from 'node:readline';
import { json as jsonOf } from 'node:stream/consumers';
import type { ImportAction } from '../../importing/desk/import-request.js';
import type { ImportCheck, ImportReportRow, ImportTarget, ImportView } from '../../importing/desk/import-views.js';
import {
  askBody,
  askStreamed,
  type FindAddress,
  type Part,
  type PartAsked,
  partQuery,
  type StreamedRequest,
} from '../api-client.js';

/** Query of an upload: the options of the import. */
export type UploadQuery = Readonly<Record<string, string>>;

interface Upload {
  readonly signal: AbortSignal;
  /** Called from time to time with the number of bytes sent. */
  readonly onSent: (bytes: number) => void;
}

/** The import API of a running pigeonpost. All methods reject with CommandError. */
export type ImportClient = ReturnType<typeof importClient>;

const nothingImported = 'stopped: nothing was imported';
const mayHaveStarted = 'stopped: check "pigeonpost import list" to see whether the import has started';

/** Timeout of a response, except while the API reads a file. */
const answerMs = 60_000;

export function importClient(address: FindAddress) {
  const json = async (asked: StreamedRequest): Promise<unknown> => {
    const signal = asked.signal ?? AbortSignal.timeout(answerMs);
    return await jsonOf(askBody(address, { ...asked, signal }));
  };
  const upload = (path: string, query: UploadQuery): string => `${path}?${new URLSearchParams(query).toString()}`;
  const sending = (
    path: string,
    file: string,
    query: UploadQuery,
    how: Pick<StreamedRequest, 'signal' | 'onSent' | 'whenStopped'>,
  ): StreamedRequest => ({ method: 'POST', path: upload(path, query), file, ...how });
  const of = (id: string): string => `/api/imports/${encodeURIComponent(id)}`;
  return {
    target: async (pigeonhole: string) =>
      (await json({ path: upload('/api/imports/target', { pigeonhole }) })) as ImportTarget,
    check: async (file: string, query: UploadQuery, how: Upload) =>
      (await json(sending('/api/imports/check', file, query, { ...how, whenStopped: nothingImported }))) as ImportCheck,
    /** Yields a CSV with the codes that are generated for rows without one. */
    generatedCodes: (file: string, query: UploadQuery, signal: AbortSignal): AsyncIterable<Uint8Array> =>
      askBody(address, sending('/api/imports/codes', file, query, { signal, whenStopped: nothingImported })),
    start: async (file: string, query: UploadQuery, how: Upload) => {
      const whenStopped = how.signal.aborted ? nothingImported : mayHaveStarted;
      return (await json(sending('/api/imports', file, query, { ...how, whenStopped }))) as ImportView;
    },
    list: async (part: PartAsked) => (await json({ path: `/api/imports?${partQuery(part)}` })) as Part<ImportView>,
    find: async (id: string) => (await json({ path: of(id) })) as ImportView,
    act: async (id: string, action: ImportAction) =>
      (await json({ method: 'POST', path: `${of(id)}/actions`, body: JSON.stringify(action) })) as ImportView,
    /** Yields the rows that need attention, in the order of the file. */
    async *problems(id: string): AsyncIterable<ImportReportRow> {
      const answer = await askStreamed(address, { path: `${of(id)}/report?only=problems` });
      for await (const line of createInterface({ input: answer })) yield JSON.parse(line) as ImportReportRow;
    },
    reportCsv: (id: string): Promise<AsyncIterable<Uint8Array>> =>
      askStreamed(address, { path: `${of(id)}/report?format=csv` }),
  };
}
