import type { TestServer } from './global-setup';

/** Stops the server that `global-setup.ts` started. */
// oxlint-disable-next-line import/no-default-export -- Jest asks for one
export default async function stopTestServer(): Promise<void> {
  const { pigeonpostTestServer } = globalThis as { pigeonpostTestServer?: TestServer };
  await pigeonpostTestServer?.stop();
}
