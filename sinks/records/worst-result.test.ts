import type { Result } from '../sink.js';
import { worstOf } from './worst-result.js';

const delivered: Result = { kind: 'delivered' };
const rejected: Result = { kind: 'rejected', cause: 'c', detail: 'd' };
const unsent: Result = { kind: 'unsent' };
const retry: Result = { kind: 'retry', detail: 'd' };
const pause: Result = { kind: 'pause', cause: 'credential', detail: 'd' };
const unknown: Result = { kind: 'unknown', detail: 'd' };

it.each<[Result[], Result]>([
  [[delivered, rejected], rejected],
  [[rejected, unsent], unsent],
  [[unsent, retry], retry],
  [[retry, pause, delivered], pause],
  [[pause, unknown], unknown],
  [[], unsent],
])('the worst of %j is %j', (results, worst) => {
  expect(worstOf(results)).toEqual(worst);
  expect(worstOf(results.toReversed())).toEqual(worst);
});

it('of two equally bad results the first counts', () => {
  expect(worstOf([delivered, retry, { kind: 'retry', detail: 'later' }])).toBe(retry);
});
