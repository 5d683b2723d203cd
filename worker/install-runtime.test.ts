import { createServer, type Server } from 'node:net';
import { Runtime } from '@temporalio/worker';
import { freeTestPort } from '../test/free-port.js';
import { installRuntime } from './install-runtime.js';
import { openLog } from './log.js';

const log = openLog('silent');
const holders: Server[] = [];

afterAll(async () => {
  await Runtime.instance().shutdown();
  for (const holder of holders) holder.close();
});

/** Returns a port that another process already uses. */
async function heldPort(): Promise<number> {
  const port = await freeTestPort();
  const holder = createServer((socket) => socket.destroy());
  holders.push(holder);
  await new Promise<void>((resolve) => holder.listen(port, '127.0.0.1', resolve));
  return port;
}

describe('the metrics endpoint of the Temporal SDK, if its port is in use,', () => {
  it('uses another port, and fails after five ports that are in use', async () => {
    const held = await heldPort();
    const asked: number[] = [];
    const alwaysHeld = async (): Promise<number> => (asked.push(held), held);
    await expect(installRuntime(log, alwaysHeld)).rejects.toThrow(/in use/);
    expect(asked).toHaveLength(5);

    const free = await freeTestPort();
    const ports = [held, held, free];
    const address = await installRuntime(log, async () => ports.shift()!);

    expect(address).toBe(`127.0.0.1:${free}`);
    expect((await fetch(`http://${address}/metrics`)).status).toBe(200);
  });
});
