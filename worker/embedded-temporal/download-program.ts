import { Runtime } from '@temporalio/worker';
import { version } from '@temporalio/worker/package.json';

/** Ten years: a server is kept until a newer SDK requires another one, which has another file name. */
const keepMs = 10 * 365 * 24 * 3_600_000;

/**
 * A separate program (see `find-binary.ts`). Makes the SDK download its server into the folder in the argument, by
 * starting it in memory and stopping it. Uses the same runtime functions as @temporalio/testing.
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
