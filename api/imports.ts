import type { Context, Hono, MiddlewareHandler } from 'hono';
import { RegistrantFileError } from '../registrants/registrant-file-error.js';
import type { ImportDesk } from './import-desk.js';
import { ImportRefusal, type ImportRefusalKind } from './import-refusal.js';
import {
  importActionSchema,
  type ImportRequest,
  importRequestSchema,
  pigeonholeNamePattern,
} from './import-request.js';
import type { ImportReportRow, ImportView } from './import-views.js';
import { UploadedBytes, UploadTooLarge } from './uploaded-bytes.js';

type Problem = (status: number, title: string) => Response;

const statuses: Readonly<Record<ImportRefusalKind, number>> = {
  unknown: 404,
  wrong: 422,
  stopped: 409,
  unreachable: 503,
};

/**
 * Imports of registrants. The body of `POST /api/imports/check`, `/codes` and `POST /api/imports` is the file itself,
 * how it is to be read stands in the query; see `importRequestSchema`. The rest asks about imports by their id.
 */
export function serveImports(
  app: Hono,
  { imports }: { readonly imports: ImportDesk },
  { problem, bodies }: { problem: Problem; bodies: MiddlewareHandler },
): void {
  const refused = (error: unknown): Response => {
    if (error instanceof ImportRefusal) return problem(statuses[error.kind], error.message);
    if (error instanceof RegistrantFileError) return problem(422, error.message);
    if (error instanceof UploadTooLarge) return problem(413, error.message);
    throw error;
  };
  const answering = async (work: () => Promise<Response>): Promise<Response> => await work().catch(refused);

  /**
   * Gives a handler what was uploaded, and takes the rest of it when the handler is done early. What the handler answers
   * as text is made while the upload is read.
   */
  const withUpload = async (
    c: Context,
    work: (request: ImportRequest, bytes: UploadedBytes) => Promise<Response | AsyncIterable<string>>,
  ): Promise<Response> => {
    const bytes = new UploadedBytes(c.req.raw.body);
    let isAnswered = true;
    try {
      const request = importRequestSchema.safeParse(c.req.query());
      if (!request.success) {
        const wrong = [...new Set(request.error.issues.map(({ path }) => String(path[0] ?? 'unknown key')))].join(', ');
        return problem(
          400,
          `an import has "pigeonhole" and "name", and may have "map", "saveMapping", "encoding", "delimiter", "sheet", "canary", "generateCodes", "force", "by" and "content"; look at: ${wrong}`,
        );
      }
      return await answering(async () => {
        const answer = await work(request.data, bytes);
        if (answer instanceof Response) return answer;
        const parts = await begun(answer);
        isAnswered = false;
        return csv(streamOf(finallyDrained(parts, bytes)));
      });
    } finally {
      if (isAnswered) await bytes.drain();
    }
  };
  const known = async (c: Context, work: (view: ImportView) => Promise<Response>): Promise<Response> => {
    const id = c.req.param('id') ?? '';
    const view = await imports.find(id);
    if (view === undefined) return problem(404, `no import ${id} is known; "pigeonpost import list" shows what is`);
    return await answering(() => work(view));
  };

  app.get('/api/imports/target', async (c) => {
    const pigeonhole = c.req.query('pigeonhole') ?? '';
    if (!pigeonholeNamePattern.test(pigeonhole)) return problem(400, 'give "pigeonhole": WORKSPACE/ID, or the ID');
    return await answering(async () => c.json(await imports.target(pigeonhole)));
  });
  app.post('/api/imports/check', (c) =>
    withUpload(c, async (request, bytes) => c.json(await imports.check(request, bytes))),
  );
  app.post('/api/imports/codes', (c) =>
    withUpload(c, async (request, bytes) => imports.generatedCodes(request, bytes)),
  );
  app.post('/api/imports', (c) =>
    withUpload(c, async (request, bytes) => c.json(await imports.start(request, bytes), 201)),
  );
  app.get('/api/imports', async (c) => c.json({ imports: await imports.list() }));
  app.get('/api/imports/:id', (c) => known(c, async (view) => c.json(view)));
  app.get('/api/imports/:id/report', (c) =>
    known(c, async ({ id }) => {
      const { format, only } = c.req.query();
      if (format === 'csv') return csv(streamOf(imports.reportCsv(id)));
      const rows = imports.report(id, only === 'problems' ? 'problems' : 'all');
      return new Response(streamOf(lines(rows)), { headers: { 'content-type': 'application/x-ndjson' } });
    }),
  );
  app.post('/api/imports/:id/actions', bodies, (c) =>
    known(c, async ({ id }) => {
      const action = importActionSchema.safeParse(await c.req.json().catch(() => undefined));
      if (!action.success)
        return problem(400, 'an action has "do" (pause, resume, cancel), and may have "by" and "reason"');
      return c.json(await imports.act(id, action.data));
    }),
  );
  app.get('/api/import-mappings', async (c) => c.json({ mappings: await imports.mappings() }));
}

function csv(body: ReadableStream<Uint8Array>): Response {
  return new Response(body, { headers: { 'content-type': 'text/csv; charset=utf-8' } });
}

/** Waits for the first part: an answer that has begun can no longer say what is wrong with the file. */
async function begun(parts: AsyncIterable<string>): Promise<AsyncIterableIterator<string>> {
  const iterator = parts[Symbol.asyncIterator]();
  const first = await iterator.next();
  return (async function* () {
    if (first.done === true) return;
    yield first.value;
    yield* { [Symbol.asyncIterator]: () => iterator };
  })();
}

async function* finallyDrained(
  parts: AsyncIterable<string>,
  bytes: UploadedBytes,
): AsyncGenerator<string, void, undefined> {
  try {
    yield* parts;
  } finally {
    await bytes.drain();
  }
}

async function* lines(batches: AsyncIterable<readonly ImportReportRow[]>): AsyncGenerator<string, void, undefined> {
  for await (const rows of batches) yield rows.map((row) => `${JSON.stringify(row)}\n`).join('');
}

/** As fast as it is read: nothing piles up for a client that is slow. A failure breaks the connection off. */
function streamOf(parts: AsyncIterable<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const iterator = parts[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next = await iterator.next();
      if (next.done === true) controller.close();
      else controller.enqueue(encoder.encode(next.value));
    },
    async cancel() {
      await iterator.return?.();
    },
  });
}
