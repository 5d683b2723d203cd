import type { ApiSources, ApiApp, ApiContext } from './api-app.js';
import { createRoute, z } from '@hono/zod-openapi';
import { RegistrantFileError } from '../importing/files/registrant-file.js';
import { audited } from './audit-log.js';
import {
  ImportRefusal,
  type ImportRefusalKind,
  type ImportRequest,
  importRequestSchema,
} from '../importing/desk/import-request.js';
import { importCheckSchema, importViewSchema } from '../importing/desk/import-views.js';
import { Refused } from './problem.js';
import type { AllPlaces, Places } from './places.js';
import { jsonAnswer, needs, problems, streamOf } from './route-parts.js';
import { actorOf, pigeonholeWithin } from './scope.js';

const statuses: Readonly<Record<ImportRefusalKind, number>> = {
  unknown: 404,
  wrong: 422,
  stopped: 409,
  unreachable: 503,
};

/**
 * Converts refusals of the import desk into answers.
 * @param file name of the uploaded file, which the caller chose; messages about the file start with this name
 * @throws {Refused}
 */
export async function asRefusal<Result>(work: () => Promise<Result>, file?: string): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ImportRefusal) throw new Refused(statuses[error.kind], error.message);
    if (error instanceof RegistrantFileError) {
      throw new Refused(422, file === undefined ? error.message : `${file}: ${error.message}`);
    }
    if (error instanceof UploadTooLarge) throw new Refused(413, error.message);
    throw error;
  }
}

const upload = {
  ...needs({ right: 'import', takes: 'file' }),
  request: {
    query: importRequestSchema,
    body: {
      required: true,
      description: 'The file as CSV, XLSX, JSON or NDJSON.',
      content: { 'application/octet-stream': { schema: z.string().openapi({ minLength: 1 }) } },
    },
  },
} as const;

/** The options of an upload are in the address, and the server rejects an address that is too long. */
const uploadProblems = {
  ...problems(404, 409, 413, 415, 422),
  431: {
    description:
      'The address with the mapping is longer than 64 KiB. The response has no body, and the connection is closed.',
  },
};

export const checkRoute = createRoute({
  ...upload,
  method: 'post',
  path: '/api/imports/check',
  operationId: 'checkImport',
  tags: ['Imports'],
  summary: 'Check what importing a file would do; writes and sends nothing',
  responses: {
    200: jsonAnswer('The result of the check: what the import would do.', importCheckSchema),
    ...uploadProblems,
  },
});

export const codesRoute = createRoute({
  ...upload,
  method: 'post',
  path: '/api/imports/codes',
  operationId: 'generateCodes',
  tags: ['Imports'],
  summary: 'List the codes that would be generated for rows without one',
  responses: {
    200: { description: 'Rows and their generated codes.', content: { 'text/csv': { schema: z.string() } } },
    ...uploadProblems,
  },
});

export const startRoute = createRoute({
  ...upload,
  method: 'post',
  path: '/api/imports',
  operationId: 'startImport',
  tags: ['Imports'],
  summary: 'Import a file',
  responses: { 201: jsonAnswer('The started import.', importViewSchema), ...uploadProblems },
});

/**
 * `POST /api/imports/check`, `/codes` and `POST /api/imports`. The body is the file, and the query contains the
 * options; see `importRequestSchema`. The route checks the options itself, with the same schema, so that it can read
 * the rest of the body before it refuses a request. A client that is still sending would not see the refusal otherwise.
 */
export function serveUploads(
  app: ApiApp,
  { ledger, imports }: Pick<ApiSources, 'ledger' | 'imports'>,
  { files }: AllPlaces,
): void {
  app.openAPIRegistry.registerPath(checkRoute);
  app.post(checkRoute.path, checkRoute.middleware, (c) =>
    withUpload(c, files, async (request, bytes) => c.json(await imports.check(request, bytes))),
  );
  app.openAPIRegistry.registerPath(codesRoute);
  app.post(codesRoute.path, codesRoute.middleware, (c) =>
    withUpload(c, files, async (request, bytes) => {
      // A code lets a person sign in, so the log shows who had codes computed.
      const entry = { action: 'generate-codes', target: `pigeonhole:${request.pigeonhole}` };
      return await audited(c, ledger, entry, async () =>
        asRefusal(async () => await begun(imports.generatedCodes(request, bytes)), request.name),
      );
    }),
  );
  app.openAPIRegistry.registerPath(startRoute);
  app.post(startRoute.path, startRoute.middleware, (c) =>
    withUpload(c, files, async (request, bytes) => {
      const by = actorOf(c, request.by);
      const { pigeonhole, canary, force } = request;
      const entry = {
        action: 'start-import',
        target: `pigeonhole:${pigeonhole}`,
        detail: { canary: canary ?? null, force: force === true },
      };
      const begun = await audited(c, ledger, entry, () =>
        asRefusal(
          () => imports.start(by === undefined ? request : { ...request, by }, bytes, c.get('caller').token),
          request.name,
        ),
      );
      return c.json(begun, 201);
    }),
  );
}

/**
 * Passes an upload to a handler, and reads the rest of the body if the handler ends early. A response of text is
 * produced while the upload is read.
 */
async function withUpload(
  c: ApiContext,
  files: Places,
  work: (request: ImportRequest, bytes: UploadedBytes) => Promise<Response | AsyncIterable<string>>,
): Promise<Response> {
  const bytes = new UploadedBytes(c.req.raw.body);
  let isAnswered = true;
  let release = (): void => undefined;
  try {
    const request = importRequestSchema.safeParse(singles(c.req.queries()));
    if (!request.success) {
      const wrong = [...new Set(request.error.issues.map(({ path }) => String(path[0] ?? 'unknown key')))].join(', ');
      throw new Refused(
        400,
        `an import has "pigeonhole" and "name", and may have "map", "saveMapping", "encoding", "delimiter", "sheet", "canary", "generateCodes", "force", "by" and "content"; check: ${wrong}`,
      );
    }
    const { data } = request;
    release = await files.take();
    return await asRefusal(async () => {
      const answer = await work({ ...data, pigeonhole: pigeonholeWithin(c, data.pigeonhole) }, bytes);
      if (answer instanceof Response) return answer;
      const parts = answer;
      isAnswered = false;
      return csv(streamOf(finallyDrained(parts, bytes, release)));
    }, data.name);
  } finally {
    if (isAnswered) {
      release();
      await bytes.drain();
    }
  }
}

/** Unwraps single values. A repeated key stays a list, which the schema rejects. */
function singles(queries: Record<string, string[]>): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(queries).map(([name, values]) => [name, values.length === 1 ? values[0]! : values]),
  );
}

export function csv(body: string | ReadableStream<Uint8Array>): Response {
  return new Response(body, { headers: { 'content-type': 'text/csv; charset=utf-8' } });
}

/** Waits for the first part, because a response that has started can no longer report an error in the file. */
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
  release: () => void,
): AsyncGenerator<string, void, undefined> {
  try {
    yield* parts;
  } finally {
    release();
    await bytes.drain();
  }
}

/** Size limit of a file: far more than a list of people needs, and little enough to be read within minutes. */
const maxUploadedBytes = 1024 ** 3;

/** The body exceeds the size limit. */
export class UploadTooLarge extends Error {
  override readonly name = 'UploadTooLarge';

  constructor(maxBytes: number) {
    super(`the file is larger than ${Math.floor(maxBytes / 1024 ** 2)} MB: split it and import the parts`);
  }
}

/**
 * Reads the body of an upload in pieces. If the reader stops early, `drain` reads the rest, because a client that is
 * still sending would not see the response.
 */
export class UploadedBytes implements AsyncIterable<Uint8Array> {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  readonly #maxBytes: number;
  #bytes = 0;
  #ended = false;

  constructor(body: ReadableStream<Uint8Array> | null, maxBytes = maxUploadedBytes) {
    this.#reader = body?.getReader();
    this.#maxBytes = maxBytes;
    this.#ended = body === null;
  }

  /** @throws {UploadTooLarge} */
  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    for (let piece = await this.#next(); piece !== undefined; piece = await this.#next()) {
      if (this.#bytes > this.#maxBytes) throw new UploadTooLarge(this.#maxBytes);
      yield piece;
    }
  }

  /**
   * Reads the rest of the body up to the limit and discards it. Never rejects: if the connection breaks, nothing is
   * left to read.
   */
  async drain(): Promise<void> {
    try {
      while ((await this.#next()) !== undefined && this.#bytes <= this.#maxBytes);
      if (!this.#ended) await this.#reader?.cancel();
    } catch {
      this.#ended = true;
    }
  }

  async #next(): Promise<Uint8Array | undefined> {
    if (this.#ended || this.#reader === undefined) return undefined;
    const { done, value } = await this.#reader.read();
    this.#ended = done;
    this.#bytes += value?.byteLength ?? 0;
    return value;
  }
}
