import { rootCertificates } from 'node:tls';
import { Agent, ProxyAgent, type Dispatcher } from 'undici';
import type { NetworkSettings } from '../sink.js';
import { confirmHeld } from '../while-held.js';
import { isAllowedHost, bypassesProxy } from './proxy-rules.js';
import { guardedConnector, strictTls, RefusedAddressError } from './guarded-connector.js';

export interface DispatcherOptions {
  /** True lets connections reach loopback and private networks. */
  readonly allowPrivateAddresses: boolean;
  readonly connectTimeoutMs: number;
  /** Most connections held open to the destination. */
  readonly connections: number;
}

/**
 * The connections to one destination, kept alive between calls: direct and checked by address, or through the proxy
 * of `network`. A proxy looks names up itself, so there the host must be listed in `network.allowHosts`, whatever
 * `allowPrivateAddresses` says. A host that is not allowed makes every request fail with RefusedAddressError.
 */
export function createDispatcher(url: URL, network: NetworkSettings, options: DispatcherOptions): Dispatcher {
  return connectionsTo(url, network, options).compose(onlyWhileHeld);
}

/** A request on behalf of a lane that is no longer held is not made. */
const onlyWhileHeld: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (request, handler) => {
  const confirming = confirmHeld();
  if (confirming === undefined) return dispatch(request, handler);
  confirming.then(
    () => dispatch(request, handler),
    (error: Error) => handler.onResponseError?.(null as never, error), // there is no controller: nothing was begun
  );
  return true;
};

function connectionsTo(url: URL, network: NetworkSettings, options: DispatcherOptions): Dispatcher {
  const { connections } = options;
  // Given a list, Node trusts nothing else, so its own certificates are named too.
  const trustedCertificates = network.ca ? [...rootCertificates, network.ca] : undefined;
  if (!network.proxy || bypassesProxy(url, network.noProxy)) {
    const { allowPrivateAddresses, connectTimeoutMs } = options;
    return new Agent({
      connections,
      connect: guardedConnector({
        allowPrivateAddresses,
        connectTimeoutMs,
        ...(trustedCertificates && { trustedCertificates }),
      }),
    });
  }
  if (!isAllowedHost(url.hostname, network.allowHosts)) {
    const refusal = new RefusedAddressError(
      `${url.hostname} may not be reached through the proxy: add it to "network.allowHosts", or to "network.noProxy"`,
    );
    return new Agent({ connect: (_target, callback) => callback(refusal, null) });
  }
  const ca = trustedCertificates && { ca: trustedCertificates };
  const tls = { timeout: options.connectTimeoutMs, ...strictTls, ...ca };
  return new ProxyAgent({ uri: network.proxy, connections, requestTls: tls, proxyTls: tls });
}
