import { Runtime } from '@temporalio/worker';
import { version } from '@temporalio/worker/package.json';

/** Ten years: a server that works is kept until a newer SDK wants another, which has another file name. */
const keepMs = 10 * 365 * 24 * 3_600_000;

/**
 * A program of its own (see `download-binary.ts`): makes the SDK download its server into the folder named by the
 * argument, by starting it in memory and stopping it again. Uses what @temporalio/testing uses of the runtime.
 */
async function download(downloadDir: string): Promise<void> {
  const runtime = Runtime.instance();
  const server = await runtime.createEphemeralServer({
    type: 'dev-server',
    exe: {
      type: 'cached-download',
      downloadDir,
      version: 'default',
      ttl: keepMs,
      sdkName: 'sdk-typescript',
      sdkVersion: version,
    },
    namespace: 'default',
    ip: '127.0.0.1',
    port: null,
    uiPort: null,
    dbFilename: null,
    ui: false,
    log: { format: 'json', level: 'warn' },
    extraArgs: [],
  });
  await runtime.shutdownEphemeralServer(server);
}

if (require.main === module) {
  download(process.argv[2] ?? '').then(
    () => process.exit(0),
    (error: unknown) => {
      process.stderr.write(`${String(error)}\n`);
      process.exit(1);
    },
  );
}
