import type { Environment } from './environment.js';
import { Secret } from './secret.js';

export interface EnvironmentProxy {
  readonly proxy?: Secret;
  readonly noProxy?: string;
  /** A sentence, when the environment names a proxy that cannot be used. */
  readonly problem?: string;
}

/**
 * The proxy that the environment names for https, in the variables that curl and most programs read. As with curl, lower
 * case goes first and a proxy without a scheme is an http one. Source: curl manual, "Environment".
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
