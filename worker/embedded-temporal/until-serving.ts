import { connect } from 'node:net';
import { Connection } from '@temporalio/client';

const retryEveryMs = 50;

/**
 * Waits until a Temporal server listens, answers, and knows the namespace.
 * @param signal stops waiting without an error
 * @throws if that takes longer than `timeoutMs`
 */
export async function untilServing(
  address: string,
  namespace: string,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<void> {
  const end = Date.now() + timeoutMs;
  while (!signal.aborted) {
    // Tests the port first, because a refused gRPC client waits a second before it retries.
    if ((await listens(address)) && (await knows(address, namespace))) return;
    if (Date.now() > end) throw new Error(`Temporal at ${address} does not serve namespace ${namespace}`);
    await new Promise((resolve) => setTimeout(resolve, retryEveryMs));
  }
}

function listens(address: string): Promise<boolean> {
  const [host, port] = address.split(':');
  return new Promise((resolve) => {
    const socket = connect({ host, port: Number(port) });
    const settle = (isListening: boolean): void => {
      socket.destroy();
      resolve(isListening);
    };
    socket.once('connect', () => settle(true));
    socket.once('error', () => settle(false));
  });
}

async function knows(address: string, namespace: string): Promise<boolean> {
  const connection = Connection.lazy({ address });
  try {
    await connection.withDeadline(Date.now() + 2000, () => connection.workflowService.describeNamespace({ namespace }));
    return true;
  } catch {
    return false; // still starting: its services come up one after the other
  } finally {
    await connection.close();
  }
}
