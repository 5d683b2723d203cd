import { json as jsonOf } from 'node:stream/consumers';
import { filledAddress } from '../../base/api-client.js';
import { jsonLines } from '../../base/json-lines.js';
import type { ImportAction } from '../../importing/desk/import-request.js';
import type { ImportCheck, ImportReportRow, ImportView } from '../../importing/desk/import-views.js';
import {
  apiClient,
  askBody,
  askStreamed,
  type FindAddress,
  type PartAsked,
  type StreamedRequest,
} from '../api-client.js';

export type UploadQuery = Readonly<Record<string, string | undefined>>;

interface Upload {
  readonly signal: AbortSignal;
  /** Called from time to time with the number of bytes sent. */
  readonly onSent: (bytes: number) => void;
}

/** The import API of a running pigeonpost. All methods reject with CommandError. */
export type ImportClient = ReturnType<typeof importClient>;

const nothingImported = 'stopped: nothing was imported';
const mayHaveStarted = 'stopped: check "pigeonpost import list" to see whether the import has started';

export function importClient(address: FindAddress) {
  const client = apiClient(address);
  const sending = (
    path: string,
    file: string,
    query: UploadQuery,
    how: Pick<StreamedRequest, 'signal' | 'onSent' | 'whenStopped'>,
  ): AsyncGenerator<Uint8Array> =>
    askBody(address, { method: 'POST', path: filledAddress(path, { query }), file, ...how });
  const report = (id: string, query: Readonly<Record<string, string>>): ReturnType<typeof askStreamed> =>
    askStreamed(address, { path: filledAddress('/api/imports/{id}/report', { params: { id }, query }) });
  return {
    target: (pigeonhole: string) => client.get('/api/imports/target', { query: { pigeonhole } }),
    check: async (file: string, query: UploadQuery, how: Upload) =>
      (await jsonOf(
        sending('/api/imports/check', file, query, { ...how, whenStopped: nothingImported }),
      )) as ImportCheck,
    /** Yields a CSV with the codes that are generated for rows without one. */
    generatedCodes: (file: string, query: UploadQuery, signal: AbortSignal): AsyncIterable<Uint8Array> =>
      sending('/api/imports/codes', file, query, { signal, whenStopped: nothingImported }),
    start: async (file: string, query: UploadQuery, how: Upload) => {
      const whenStopped = how.signal.aborted ? nothingImported : mayHaveStarted;
      return (await jsonOf(sending('/api/imports', file, query, { ...how, whenStopped }))) as ImportView;
    },
    list: (query: PartAsked) => client.get('/api/imports', { query }),
    find: (id: string) => client.get('/api/imports/{id}', { params: { id } }),
    act: (id: string, json: ImportAction) => client.post('/api/imports/{id}/actions', { params: { id }, json }),
    /** Yields the rows that need attention, in the order of the file. */
    async *problems(id: string): AsyncIterable<ImportReportRow> {
      const answer = await report(id, { only: 'problems' });
      for await (const line of jsonLines(answer)) yield JSON.parse(line) as ImportReportRow;
    },
    reportCsv: (id: string): Promise<AsyncIterable<Uint8Array>> => report(id, { format: 'csv' }),
  };
}
