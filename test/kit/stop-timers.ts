/** Stops all time limits until the test advances them, so that a slow machine ends no request. */
export function stopTimers(): void {
  jest.useFakeTimers({ doNotFake: ['Date', 'nextTick', 'performance', 'queueMicrotask', 'setImmediate'] });
}
