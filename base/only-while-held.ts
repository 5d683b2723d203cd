import type { Dispatcher } from 'undici';
import { type ConfirmHeld, presentConfirm } from './while-held.js';

/**
 * Prevents requests under a lease that this process no longer holds. The lease is confirmed when a request starts. It
 * is confirmed again directly before the request is written, because the request may have waited for a connection, and
 * the machine may have been suspended meanwhile.
 */
export const onlyWhileHeld: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (request, handler) => {
  const confirm = presentConfirm();
  if (confirm === undefined) return dispatch(request, handler);
  const start = (): boolean => {
    const confirming = confirm();
    if (confirming === undefined) return dispatch(request, startedWhileHeld(handler, confirm, start));
    confirming.then(start, (error: Error) => {
      refusals.add(error);
      handler.onResponseError?.(null as never, error); // there is no controller yet
    });
    return true;
  };
  return start();
};

/** The errors that `confirm` rejected with. */
const refusals = new WeakSet<Error>();

/** Returns true if a request failed because its lease was not confirmed. No byte of such a request was written. */
export function isNotConfirmed(error: unknown): boolean {
  return refusals.has(error as Error);
}

/** Aborts a request before its first byte is written. The caller never sees this error. */
const notWritten = new Error('the lease has to be confirmed before this request is written');

/**
 * Wraps the handler of a request so that the request is aborted if the lease has to be confirmed first.
 * @param startAgain confirms the lease, and starts the request again if this process still holds it
 */
function startedWhileHeld(
  handler: Dispatcher.DispatchHandler,
  confirm: ConfirmHeld,
  startAgain: () => void,
): Dispatcher.DispatchHandler {
  return {
    onRequestStart(controller, context) {
      const confirming = confirm();
      if (confirming === undefined) return handler.onRequestStart?.(controller, context);
      confirming.catch(() => undefined); // `startAgain` confirms the lease again, and reports a failure
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
