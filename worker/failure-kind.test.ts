import { ClientOptionsError } from '../pigeonhole/api-error.js';
import { failureKindOf } from './failure-kind.js';

describe('the kind of a failure', () => {
  it('is the configuration if its values do not allow a client', () => {
    expect(failureKindOf(new ClientOptionsError('apiKey', 'is empty'))).toBe('configuration');
  });

  it('is undefined for an error whose message is not meant for operators', () => {
    expect(failureKindOf(new TypeError('apiKey is empty'))).toBeUndefined();
  });
});
