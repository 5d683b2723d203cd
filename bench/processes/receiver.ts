import { join } from 'node:path';
import { Program } from './program.js';
import type { Stage } from './stage.js';

/** Checks signatures on loopback and opens nothing. */
const secret = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';

/** A change as the receiver noted it. */
interface Received {
  readonly list: string;
  readonly key: string;
  /** `<list>.created`, `.updated` or `.deleted`. */
  readonly type: string;
  /** Epoch ms, when the product found the change, by its timestamp. */
  readonly foundAtMs: number;
  /** Epoch ms, when its signature held and it was written down. */
  readonly atMs: number;
}

/** The receiver of signed webhooks as a process of its own; it ends with the stage, or sooner by `stop`. */
export class Receiver {
  private constructor(
    private readonly url: string,
    private readonly program: Program,
  ) {}

  static async start(stage: Stage): Promise<Receiver> {
    const folder = stage.nextFolder();
    const program = new Program({
      program: 'sandbox/webhook-receiver/main',
      args: ['--secret', secret],
      env: {},
      cwd: folder,
      logFile: join(folder, 'receiver.log'),
    });
    stage.onClose(() => program.stop());
    const ready = await program.lineLike(/^webhook receiver ready at (\S+)/);
    return new Receiver(ready[1]!, program);
  }

  /** Ends the process. A bench of many runs stops each receiver after its run: one that has finished still holds memory. */
  async stop(): Promise<void> {
    await this.program.stop();
  }

  /** URL and secret for other senders. */
  get target(): { readonly url: string; readonly secret: string } {
    return { url: this.url, secret };
  }

  /** For the product's environment: what `sinkLine` names. */
  get env(): Readonly<Record<string, string>> {
    return { BENCH_WEBHOOK_SECRET: secret };
  }

  /** The YAML of a sink that sends these lists here. */
  sinkLine(name: string, lists: readonly string[], more = ''): string {
    return `${name}: { type: webhook, url: "${this.url}", secret: "\${BENCH_WEBHOOK_SECRET}", allowPrivateAddresses: true, lists: [${lists.join(', ')}]${more} }`;
  }

  /** All that was received so far, oldest first. */
  async received(): Promise<Received[]> {
    const answer = await fetch(new URL('/_control/receipts', this.url));
    type Receipt = { list: string; key: string; type: string; timestamp: string; receivedAt: string };
    return (await answer.text())
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Receipt)
      .map(({ timestamp, receivedAt, ...change }) => ({
        ...change,
        foundAtMs: Date.parse(timestamp),
        atMs: Date.parse(receivedAt),
      }));
  }
}
