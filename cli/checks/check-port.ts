import { type CheckResult, checkOf } from '../../operations/checks.js';
import type { Config } from '../../operations/load-process-config.js';
import { findInstance, isTokenRefusal, NotReadyError } from '../find-instance.js';

/**
 * Checks that a start can listen at its addresses and store the API's token. A running process of this configuration is
 * not a problem.
 */
export async function checkPort(config: Config): Promise<CheckResult[]> {
  const { checkServer } = await import('../../worker/check-start.js');
  const { isTaken } = await import('../../worker/embedded-temporal/free-port.js');
  const { host, port } = config.server;
  const own = (await isTaken(host, port)) ? await ownPigeonpost(config) : null;
  if (own === null) return await checkServer(config);
  return [checkOf('server', 'server').ok(`port ${port} of ${host} is in use by ${own}`)];
}

/** Returns how to name the pigeonpost of this configuration that listens at its address; null: another program does. */
async function ownPigeonpost(config: Config): Promise<string | null> {
  const name = 'the pigeonpost of this configuration';
  try {
    const { url } = await findInstance(config);
    return portOf(url) === config.server.port ? name : null;
  } catch (error) {
    if (error instanceof NotReadyError) return 'a pigeonpost that is not ready yet';
    return isTokenRefusal(error) ? name : null;
  }
}

/** Returns the port of an HTTP address, also the default one, which URL leaves out. Pure. */
export function portOf(url: string): number {
  return Number(new URL(url).port || 80);
}
