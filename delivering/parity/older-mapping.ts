import type { Collaborators } from '../../cycles/collaborators.js';
import { normalizedConfig } from '../../config/normalized-config.js';
import { configurationDocument } from '../../ledger/configurations.js';

/**
 * Returns true if the settings of a sink were others in an earlier configuration, so that what it sent then may differ from
 * what it would send now.
 */
export async function isOlderMapping(
  { ledger, config, configuration }: Pick<Collaborators, 'ledger' | 'config' | 'configuration'>,
  sink: string,
  earlier: number,
): Promise<boolean> {
  if (earlier === configuration) return false;
  const then = await configurationDocument(ledger, earlier);
  const now = normalizedConfig(config, (secret) => ledger.hash.fingerprint(secret));
  return settingsIn(then, sink) !== settingsIn(now, sink);
}

/** Returns the sink's own settings in a configuration as text. */
function settingsIn(document: unknown, sink: string): string {
  const { sinks } = (document ?? {}) as { readonly sinks?: Readonly<Record<string, { readonly settings?: unknown }>> };
  return JSON.stringify(sinks?.[sink]?.settings ?? null);
}
