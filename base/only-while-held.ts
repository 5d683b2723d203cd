import type { Dispatcher } from 'undici';
import { type ConfirmHeld, presentConfirm } from './while-held.js';

/**
 * Stops requests under a lease that this process no longer holds. A request may wait for a connection, so the lease is
 * confirmed again when the request is about to be written: the machine may have been suspended meanwhile.
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

/** Errors with which `confirm` rejected. */
const refusals = new WeakSet<Error>();

/** Whether a request failed because its lease was not confirmed. Then no byte of it was written. */
export function isNotConfirmed(error: unknown): boolean {
  return refusals.has(error as Error);
}

/** Ends the request before a byte of it is written. The caller never sees this error. */
const notWritten = new Error('the lease has to be confirmed before this request is written');

/** @param startAgain confirms the lease, and starts the request once more if it is still held */
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
