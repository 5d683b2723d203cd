import { readFile } from 'node:fs/promises';
import { type Environment, processEnvironment } from '../config/environment.js';
import type { Json } from '../config/normalized-config.js';
import { normalizedConfig } from '../config/normalized-config.js';
import type { Config } from './load-process-config.js';

/** A configuration as a person may hand it on: defaults written out, and no secret, not even its fingerprint. */
export function shownSettings(config: Config): Json {
  const { store, temporal, server, network } = config;
  return {
    configuration: normalizedConfig(config, () => '[secret]'),
    store: store.kind === 'embedded' ? `embedded:${store.folder}` : 'PostgreSQL',
    ledgerKey: config.ledgerKey !== undefined,
    temporal: {
      address: temporal.address,
      namespace: temporal.namespace,
      taskQueue: temporal.taskQueue,
      tls: temporal.tls !== undefined,
    },
    server: {
      host: server.host,
      port: server.port,
      token: server.token !== undefined,
      publicUrl: server.publicUrl ?? null,
    },
    network: { proxy: network.proxy !== undefined, ca: network.ca !== undefined },
  };
}

/** Returns whether each variable is set that a file names or that has a default meaning. Never returns a value. */
export async function namedVariables(
  file: string,
  environment: Environment = processEnvironment(),
): Promise<Record<string, 'set' | 'empty' | 'not set'>> {
  const text = await readFile(file, 'utf8').catch(() => '');
  const withoutComments = text.replaceAll(/(^|\s)#.*$/gm, '$1');
  const named = [...withoutComments.matchAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)/g)].map(([, name]) => name!);
  const names = [
    ...new Set([...named, 'DATABASE_URL', 'LEDGER_KEY', 'TEMPORAL_ADDRESS', 'TEMPORAL_NAMESPACE', 'PIGEONPOST_LOG']),
  ];
  const stateOf = (value: string | undefined): 'set' | 'empty' | 'not set' =>
    value === undefined ? 'not set' : value === '' ? 'empty' : 'set';
  return Object.fromEntries(names.toSorted().map((name) => [name, stateOf(environment[name])]));
}
