import { rootCertificates } from 'node:tls';
import { Agent, ProxyAgent, type Dispatcher } from 'undici';
import type { NetworkSettings } from '../sink.js';
import { type ConfirmHeld, presentConfirm } from '../while-held.js';
import { isAllowedHost, bypassesProxy } from './proxy-rules.js';
import { guardedConnector, strictTls, RefusedAddressError } from './guarded-connector.js';

export interface DispatcherOptions {
  /** True lets connections reach loopback and private networks. */
  readonly allowPrivateAddresses: boolean;
  readonly connectTimeoutMs: number;
  /** Maximum number of open connections to the destination. */
  readonly connections: number;
}

/**
 * Opens connections to one destination, kept alive between calls: direct and checked by address, or through the proxy
 * of `network`. A proxy resolves names, so with a proxy the host must be listed in `network.allowHosts`, whatever
 * `allowPrivateAddresses` says. For a host that is not allowed, every request fails with RefusedAddressError.
 */
export function createDispatcher(url: URL, network: NetworkSettings, options: DispatcherOptions): Dispatcher {
  return connectionsTo(url, network, options).compose(onlyWhileHeld);
}

/**
 * Stops requests of a lane that this process no longer holds. A request may wait for a connection, so the lane is
 * confirmed again when the request is about to be written: the machine may have been suspended meanwhile.
 */
const onlyWhileHeld: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (request, handler) => {
  const confirm = presentConfirm();
  if (confirm === undefined) return dispatch(request, handler);
  const start = (): boolean => {
    const confirming = confirm();
    if (confirming === undefined) return dispatch(request, startedWhileHeld(handler, confirm, start));
    confirming.then(start, (error: Error) => handler.onResponseError?.(null as never, error)); // there is no controller yet
    return true;
  };
  return start();
};

/** Ends the request before a byte of it is written. The caller never sees this error. */
const notWritten = new Error('the lane has to be confirmed before this request is written');

/** @param startAgain confirms the lane, and starts the request once more if it is still held */
function startedWhileHeld(
  handler: Dispatcher.DispatchHandler,
  confirm: ConfirmHeld,
  startAgain: () => void,
): Dispatcher.DispatchHandler {
  return {
    onRequestStart(controller, context) {
      const confirming = confirm();
      if (confirming === undefined) return handler.onRequestStart?.(controller, context);
      confirming.catch(() => undefined); // `startAgain` asks again, and reports what it learns
      controller.abort(notWritten);
    },
    onResponseError(controller, error) {
      if (error === notWritten) startAgain();
      else handler.onResponseError?.(controller, error);
    },
    onRequestUpgrade: (...given) => handler.onRequestUpgrade?.(...given),
    onResponseStart: (...given) => handler.onResponseStart?.(...given),
    onResponseData: (...given) => handler.onResponseData?.(...given),
    onResponseEnd: (...given) => handler.onResponseEnd?.(...given),
  };
}

function connectionsTo(url: URL, network: NetworkSettings, options: DispatcherOptions): Dispatcher {
  const { connections } = options;
  // Node trusts only the given list, so its own certificates are included.
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
