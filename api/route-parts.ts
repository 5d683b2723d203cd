import type { Context } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { createMiddleware } from 'hono/factory';
import { z } from '@hono/zod-openapi';
import { isNestedDeeper } from '../base/json-depth.js';
import type { ApiEnvironment } from './api-app.js';
import { problemSchema, Refused } from './problem.js';
import { type Right, rolesWith } from './authenticate.js';
import { printable } from '../base/printable.js';

const largestBodyBytes = 64 * 1024;
/** The deepest request has four levels. */
const maxBodyLevels = 20;

/** Requirements of a route for its caller and its body. A test checks that every route has them. */
interface Needs {
  readonly right: Right;
  /** Type of the body: JSON is read whole, a file is streamed. */
  readonly takes?: 'json' | 'file';
  /** Size limit of a body; 64 KiB by default. */
  readonly largestBytes?: number;
  /** Describes a valid request, for the error message of an invalid one. */
  readonly looksLike?: string;
}

/**
 * Returns the part of a route that checks the caller's right and the type and size of the body. It runs before anything
 * else of the request is read.
 */
export function needs({ right, takes = 'json', largestBytes = largestBodyBytes, looksLike }: Needs) {
  const limit = bodyLimit({
    maxSize: largestBytes,
    onError: () => {
      throw new Refused(413, `the body is too large: send at most ${largestBytes} bytes`);
    },
  });
  const guard = createMiddleware<ApiEnvironment>(async (c, next) => {
    const { rights } = c.get('caller');
    if (!rights.has(right)) {
      throw new Refused(403, `this token may not do that; the request needs the role ${rolesWith(right).join(' or ')}`);
    }
    c.set('looksLike', looksLike);
    requireType(c, takes);
    if (takes === 'file') return await next();
    return await limit(c, async () => {
      await requireFlat(c);
      await next();
    });
  });
  return { security: [{ token: [] }], middleware: guard, 'x-right': right };
}

/**
 * Checks the type of the body. A foreign page can make a browser send texts and forms to this server without a
 * preflight request. Before it sends JSON or a binary type, the browser sends a preflight request, which this server
 * refuses.
 * @throws {Refused} 415
 */
function requireType({ req }: Context, takes: 'json' | 'file'): void {
  const type = (req.header('content-type') ?? '').split(';')[0]!.trim().toLowerCase();
  const [wanted, what] = takes === 'json' ? ['application/json', 'JSON'] : ['application/octet-stream', 'the file'];
  if (req.method === 'GET' || req.method === 'HEAD' || type === wanted) return;
  throw new Refused(415, `send ${what}, with "Content-Type: ${wanted}"`);
}

/** Checks the nesting before the body is parsed. @throws {Refused} 400 */
async function requireFlat({ req }: Context): Promise<void> {
  if (req.method === 'GET' || req.method === 'HEAD') return;
  if (!isNestedDeeper(await req.text(), maxBodyLevels)) return;
  throw new Refused(
    400,
    `the body is nested deeper than ${maxBodyLevels} levels; send a body as described in /openapi.json`,
  );
}

/** A required JSON body. */
export function jsonBody<Schema extends z.ZodType>(schema: Schema) {
  return { required: true, content: { 'application/json': { schema } } } as const;
}

export function jsonAnswer<Schema extends z.ZodType>(description: string, schema: Schema) {
  return { description, content: { 'application/json': { schema } } } as const;
}

type Iso<Value> = Value extends Date ? string : Value;

/** Returns a row with its instants in ISO 8601, as in the API's answers. */
export function withIsoInstants<Row extends object>(row: Row): { [Key in keyof Row]: Iso<Row[Key]> } {
  const values = Object.entries(row).map(([key, value]) => [key, value instanceof Date ? value.toISOString() : value]);
  return Object.fromEntries(values) as { [Key in keyof Row]: Iso<Row[Key]> };
}

const reasons = {
  400: 'The request cannot be understood.',
  401: 'The token is missing or not valid.',
  403: 'The token may not do that, or the request comes from a foreign page.',
  404: 'It does not exist.',
  409: 'It cannot be done in the present state.',
  413: 'The body is too large.',
  415: 'The body is not JSON.',
  421: 'The host name is not served here.',
  429: 'Too many wrong tokens came from this address, or too many requests of this kind were refused.',
  422: 'The configuration cannot be used.',
  500: 'It failed.',
  503: 'The process is starting, or has too much to do.',
} as const;
type ProblemStatus = keyof typeof reasons;
type ProblemAnswer = { description: string; content: { 'application/problem+json': { schema: typeof problemSchema } } };

const always = [400, 401, 403, 421, 429, 500, 503] as const;
type Always = (typeof always)[number];

/** Returns the error responses of a route: those of every route, and the given ones. */
export function problems<Status extends ProblemStatus = never>(
  ...statuses: Status[]
): Record<Status | Always, ProblemAnswer> {
  const answers = {} as Record<Status | Always, ProblemAnswer>;
  for (const status of [...always, ...statuses]) {
    answers[status] = {
      description: reasons[status],
      content: { 'application/problem+json': { schema: problemSchema } },
    };
  }
  return answers;
}

/** Returns the responses of a route: its JSON, and the error responses with the given statuses. */
export function answers<Schema extends z.ZodType, Status extends ProblemStatus = never>(
  description: string,
  schema: Schema,
  ...statuses: Status[]
) {
  return { 200: jsonAnswer(description, schema), ...problems(...statuses) };
}

/** Query parameter that requests personal data. */
export const personalSchema = z
  .literal('1')
  .optional()
  .describe('`1`: with the names and texts of people. Requires the role privacy or admin, and is audited.');

/**
 * Streams a response as fast as the client reads, so that nothing accumulates for a slow client. A failure closes the
 * connection.
 */
export function streamOf(parts: AsyncIterable<string | Uint8Array>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const iterator = parts[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next = await iterator.next();
      if (next.done === true) controller.close();
      else controller.enqueue(typeof next.value === 'string' ? encoder.encode(next.value) : next.value);
    },
    async cancel() {
      await iterator.return?.();
    },
  });
}

/** Query parameters of one page of a list. */
export const pageQuery = {
  limit: z.coerce.number().int().min(1).max(500).default(100).describe('Maximum number of entries.'),
  after: z
    .string()
    .min(1)
    .max(1000)
    .optional()
    .describe('`next` of the previous part; without it, the first part is returned.')
    // The code refuses any other text itself, with a sentence. A cursor is a JSON list in base64url.
    .openapi({ pattern: '^W[yz][A-Za-z0-9_-]+$' }),
};

/** A part of a long list. */
export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.object({
    items: z.array(item),
    next: z.string().nullable().describe('Value of `after` for the next part; null: this is the last part.'),
  });
}

/** Schemas for cursor values by column type, because PostgreSQL fails on a value that the type cannot hold. */
export const positionOf = {
  text: printable(500),
  int4: z.int32(),
  int8: z.int(),
  /** Precise to the microsecond, like the rows. PostgreSQL has no year 0. */
  instant: z.iso.datetime().regex(/^[1-9]/),
};

/**
 * Divides a list into pages. A cursor contains the values by which the list is sorted. Unlike a number of rows to skip,
 * it still names the same position after rows before it are added or removed.
 */
export function pagesBy<Row, Values extends readonly [] | readonly (string | number)[]>(
  schema: z.ZodType<Values>,
  valuesOf: (row: Row) => NoInfer<Values>,
) {
  return {
    /**
     * Returns where the previous page ended; null: there is none.
     * @throws {Refused} 400 for a text that no list has returned
     */
    endOf(after: string | undefined): Values | null {
      if (after === undefined) return null;
      const values = schema.safeParse(parse(Buffer.from(after, 'base64url').toString()));
      if (values.success) return values.data;
      throw new Refused(400, '"after" must be "next" of the previous part, unchanged', {
        faults: [{ in: 'query', at: 'after', problem: 'no part of this list ends there' }],
      });
    },
    /** Returns one page and its cursor. `rows` holds one row more than the page if another page follows. */
    page<Item>(rows: readonly Row[], limit: number, view: (row: Row) => Item): { items: Item[]; next: string | null } {
      const own = rows.slice(0, limit);
      const last = rows.length > limit ? own.at(-1) : undefined;
      const next = last === undefined ? null : Buffer.from(JSON.stringify(valuesOf(last))).toString('base64url');
      return { items: own.map(view), next };
    },
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
