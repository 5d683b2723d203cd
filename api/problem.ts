import { STATUS_CODES } from 'node:http';
import { z } from '@hono/zod-openapi';

/** An error in one part of a request. It never repeats the value, which may be someone's name. */
const faultSchema = z.object({
  in: z.enum(['query', 'path', 'header', 'body']),
  at: z.string().describe('The key, as in `lists.0`; empty: the whole.'),
  problem: z.string(),
});
export type Fault = z.infer<typeof faultSchema>;

/** Every answer that is not what was asked for (RFC 9457). */
export const problemSchema = z
  .object({
    type: z.literal('about:blank').describe('The status says what kind of problem it is.'),
    title: z.string().describe("The status's name."),
    status: z.int().min(400).max(599),
    detail: z.string().describe('What happened and what to do, in a sentence for a person.'),
    instance: z.string().describe('`urn:uuid:` and the `X-Request-Id` of this answer.'),
    faults: z.array(faultSchema).optional().describe('Of a request that cannot be understood: where.'),
  })
  .openapi('Problem');

/** A request that is not done, with the sentence that its sender gets. Thrown by routes, answered in one place. */
export class Refused extends Error {
  override readonly name = 'Refused';

  constructor(
    readonly status: number,
    detail: string,
    readonly more: { readonly faults?: readonly Fault[]; readonly headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(detail);
  }
}

/** @param requestId value of `X-Request-Id` */
export function problemResponse(refused: Refused, requestId: string): Response {
  const { status, message: detail } = refused;
  const { faults, headers } = refused.more;
  const body: z.infer<typeof problemSchema> = {
    type: 'about:blank',
    title: STATUS_CODES[status] ?? 'Unknown',
    status,
    detail,
    instance: `urn:uuid:${requestId}`,
    ...(faults === undefined ? {} : { faults: [...faults] }),
  };
  return new Response(JSON.stringify(body), {
    status,
    headers: { ...headers, 'content-type': 'application/problem+json' },
  });
}
