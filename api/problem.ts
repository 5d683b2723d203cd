import { STATUS_CODES } from 'node:http';
import { z } from '@hono/zod-openapi';

/** An error in one part of a request. It never repeats the value, which may be someone's name. */
const faultSchema = z.object({
  in: z.enum(['query', 'path', 'header', 'body']),
  at: z.string().describe('The key, such as `lists.0`; empty: the whole body.'),
  problem: z.string(),
});
export type Fault = z.infer<typeof faultSchema>;

/** Body of every error response (RFC 9457). */
export const problemSchema = z
  .object({
    type: z.literal('about:blank').describe('The status shows the kind of problem.'),
    title: z.string().describe('Name of the status.'),
    status: z.int().min(400).max(599),
    detail: z.string().describe('What happened and what to do, as a sentence for people.'),
    instance: z.string().describe('`urn:uuid:` and the `X-Request-Id` of this response.'),
    faults: z.array(faultSchema).optional().describe('The faulty places of a request that is not valid.'),
  })
  .openapi('Problem');

/** Refusal of a request, with the sentence for its sender. Routes throw it, and one error handler answers it. */
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
