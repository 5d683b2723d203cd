import { z } from '@hono/zod-openapi';
import { isApproved } from '../ledger/sinks.js';
import { pausesOf } from '../ledger/pauses.js';
import type { Collaborators } from '../work/collaborators.js';

/** The result of a test message. */
export const sinkTestSchema = z
  .object({
    delivered: z.boolean(),
    detail: z.string().nullable().describe('The response of the destination, or why there is none.'),
  })
  .openapi('SinkTest');
export type SinkTest = z.infer<typeof sinkTestSchema>;

const testMs = 30_000;

/**
 * Sends one message, marked as a test, through a sink, if the sink supports tests and would send changes now. A second
 * call sends a second message. Nothing about it is stored.
 */
export async function testSink(
  { config, ledger, sinks, log }: Pick<Collaborators, 'config' | 'ledger' | 'sinks' | 'log'>,
  name: string,
): Promise<SinkTest | { readonly refused: string } | 'unknown'> {
  const open = sinks.get(name);
  if (open === undefined) return 'unknown';
  const { type } = config.sinks[name]!;
  if (open.sink.sendTest === undefined) {
    const refused = `a test through sink ${name} (${type}) would leave an invented record among those of real people, so nothing was sent: run "pigeonpost check" to test the connection, and "pigeonpost preview --sink ${name}" to see what the sink would send`;
    return { refused };
  }
  if ((await pausesOf(ledger, [{ scope: 'sink', name }])).length > 0) {
    return { refused: `sink ${name} is paused, so nothing was sent: run "pigeonpost resume sink:${name}" first` };
  }
  if (open.observing && !(await isApproved(ledger, open.id, open.destination))) {
    const refused = `sink ${name} only observes, so nothing was sent: run "pigeonpost sink approve ${name}" first`;
    return { refused };
  }
  const outcome = await open.sink.sendTest(AbortSignal.timeout(testMs));
  log.info({ sink: name, outcome: outcome.kind }, 'test message sent');
  const delivered = outcome.kind === 'delivered';
  const detail = 'detail' in outcome ? (outcome.detail ?? null) : null;
  return { delivered, detail: detail ?? (delivered ? null : 'the sink could not send within its limits: try again') };
}
