import type { Environment } from './environment.js';
import { type ConfigDocument, pathId, type KeyPath, valueAt } from './read-document.js';
import { Secret } from './secret.js';

/**
 * Keys that fall back to a variable if the file does not set them. `proxyFromEnvironment` handles the proxy, which has
 * rules of its own.
 */
const variables: readonly { readonly path: KeyPath; readonly variable: string }[] = [
  { path: ['store'], variable: 'DATABASE_URL' },
  { path: ['ledgerKey'], variable: 'LEDGER_KEY' },
  { path: ['temporal', 'address'], variable: 'TEMPORAL_ADDRESS' },
  { path: ['temporal', 'namespace'], variable: 'TEMPORAL_NAMESPACE' },
];

/**
 * Fills keys that the file does not set from variables, as if the file contained `store: ${DATABASE_URL:-}` and so on.
 * Many hosting platforms set these variables, so one file works on all of them. The file takes precedence, and an empty
 * variable counts as unset. The values are Secrets like all values from the environment. If a value is not allowed, the
 * problem names its variable.
 */
export function withEnvironmentDefaults(document: ConfigDocument, environment: Environment): ConfigDocument {
  let { tree } = document;
  const shown = new Map<string, string>();
  for (const { path, variable } of variables) {
    const value = environment[variable] ?? '';
    if (value === '' || valueAt(tree, path) !== undefined) continue;
    const filled = withValue(tree, path, new Secret(value));
    if (filled === undefined) continue;
    tree = filled;
    shown.set(
      pathId(path),
      `the value of the environment variable ${variable}, because the file does not set this key`,
    );
  }
  return {
    ...document,
    tree,
    placeOf: (path) => {
      const place = document.placeOf(path);
      return { ...place, shown: shown.get(pathId(path)) ?? place.shown };
    },
    isWritten: (path) => shown.has(pathId(path)) || document.isWritten(path),
    isFilled: (path) => shown.has(pathId(path)) || document.isFilled(path),
  };
}

/** Returns a copy with a value added; undefined if a part of the path is not a group, which the schema refuses. */
function withValue(tree: unknown, [step, ...below]: KeyPath, value: Secret): unknown {
  if (step === undefined) return value;
  const group = tree ?? {};
  if (typeof group !== 'object' || Array.isArray(group) || group instanceof Secret) return undefined;
  const inner = withValue((group as Record<string, unknown>)[step], below, value);
  return inner === undefined ? undefined : { ...group, [step]: inner };
}

export interface EnvironmentProxy {
  readonly proxy?: Secret;
  readonly noProxy?: string;
  /** Present if the environment names a proxy that cannot be used. */
  readonly problem?: string;
}

/**
 * Returns the https proxy from the variables that curl and most programs read. As in curl, lower case takes precedence
 * and a proxy without a scheme is an http proxy. Source: curl manual, "Environment".
 */
export function proxyFromEnvironment(environment: Environment): EnvironmentProxy {
  const noProxy = environment.no_proxy || environment.NO_PROXY || undefined;
  const variable = environment.https_proxy ? 'https_proxy' : 'HTTPS_PROXY';
  const written = environment[variable];
  if (written === undefined || written === '') return { noProxy };
  const address = written.includes('://') ? written : `http://${written}`;
  if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol)) {
    return {
      noProxy,
      problem: `the environment variable ${variable} holds no http or https URL; correct it, or set network.proxy`,
    };
  }
  return { noProxy, proxy: new Secret(address) };
}
