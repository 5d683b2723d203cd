import type { Lane, Outcome } from '../sink.js';
import { Batch, type SlackAccount } from './batch.js';
import { testMessage } from './blocks.js';
import { outcomeOf } from './classify.js';
import { postMessage } from './messages.js';

/** A test message belongs to no pigeonhole, and nothing about it is stored. */
const noLane: Lane = { workspace: '', pigeonholeId: 0, ledgerId: '', memory: {}, remember: () => Promise.resolve() };
const TEST_MS = 20_000;

/** Posts one message to a channel that says that it is a test. The message stays there. */
export async function sendTestByToken(
  account: SlackAccount,
  { channel, sink }: { readonly channel: string; readonly sink: string },
  signal: AbortSignal,
): Promise<Outcome> {
  const metadata = { event_type: 'pigeonpost_test', event_payload: { sink } };
  const message = { channel, threadTs: null, broadcast: false, content: testMessage(sink), metadata };
  const verdict = await postMessage(message, new Batch(account, noLane, signal, TEST_MS), () => undefined);
  if (verdict.kind === 'held') return verdict.outcome;
  if (verdict.kind === 'ok') return { kind: 'delivered', detail: verdict.detail };
  return verdict.kind === 'maybe'
    ? { kind: 'unknown', detail: verdict.detail }
    : outcomeOf(verdict, account.hasOneChannel);
}
