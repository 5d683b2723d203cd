import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type * as Finding from '../worker/embedded-temporal/find-binary.js';
import type * as Server from '../worker/embedded-temporal/embedded-temporal.js';

// Jest resolves no `.js` suffix to `.ts` here, unlike in tests: so this uses the build, as a user would.
const built = join(__dirname, '../dist/worker/embedded-temporal');

/** Resources that `global-teardown.ts` closes. Both run in Jest's own process. */
export interface TestServer {
  stop(): Promise<void>;
}

/**
 * Starts the Temporal server of a run of system tests (0.2 s; builds it with Go first if none is installed) and passes
 * its address in an environment variable: see `temporal.ts`.
 */
// oxlint-disable-next-line import/no-default-export -- Jest asks for one
export default async function startTestServer(): Promise<void> {
  const { binarySources, findBinary } = require(join(built, 'find-binary.js')) as typeof Finding;
  const { startEmbeddedTemporal } = require(join(built, 'embedded-temporal.js')) as typeof Server;

  const binary = await findBinary(binarySources(), (line) => process.stderr.write(`${line}\n`));
  const folder = mkdtempSync(join(tmpdir(), 'pigeonpost-temporal-'));
  const server = await startEmbeddedTemporal({ folder, binary });
  process.env['PIGEONPOST_TEST_TEMPORAL'] = server.address;
  process.env['PIGEONPOST_TEST_TEMPORAL_BINARY'] = binary;
  const running: TestServer = {
    async stop() {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  Object.assign(globalThis, { pigeonpostTestServer: running });
}
