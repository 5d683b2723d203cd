import { z } from 'zod';
import { isLoopback } from '../../config/loopback.js';
import { Secret } from '../../config/secret.js';

/**
 * The network policy of all sinks that connect to an HTTP address (docs/sinks.md, decision 0069). A sink spreads
 * `networkKeys` into its schema, reads addresses with `sinkUrl()`, adds `plainHttpStaysPrivate` and passes
 * `mayReachPrivate` to its REST client. test/structure/network-policy.test.ts checks this for all sink types.
 */
export const networkKeys = {
  allowPrivateAddresses: z
    .boolean({ error: 'allowed: true or false' })
    .default(false)
    .describe('Whether this sink may connect to loopback and private networks, also over http.'),
};

export interface NetworkKeys {
  readonly allowPrivateAddresses?: boolean | undefined;
}

export const plainHttpProblem =
  'must begin with https://; http is for private networks, together with "allowPrivateAddresses: true"';

/**
 * Returns a check for `superRefine` of a sink's schema. It refuses http addresses that are not loopback, unless
 * `allowPrivateAddresses` is set. Even if it is set, the connector refuses http to a public address.
 * @param names the keys that hold addresses, as texts or as secrets
 */
export function plainHttpStaysPrivate<const Name extends string>(...names: readonly Name[]) {
  return (keys: NetworkKeys & { readonly [key in Name]?: unknown }, context: z.RefinementCtx): void => {
    if (keys.allowPrivateAddresses === true) return;
    for (const name of names) {
      const found: unknown = keys[name];
      const address = found instanceof Secret ? found.reveal() : found;
      if (typeof address !== 'string' || !URL.canParse(address)) continue;
      const { protocol, hostname } = new URL(address);
      if (protocol !== 'http:' || isLoopback(hostname)) continue;
      context.issues.push({ code: 'custom', input: undefined, path: [name], message: plainHttpProblem });
    }
  };
}

/** Whether connections to a configured address may reach private networks. Loopback needs no setting. */
export function mayReachPrivate(url: URL, { allowPrivateAddresses = false }: NetworkKeys): boolean {
  return allowPrivateAddresses || isLoopback(url.hostname);
}
