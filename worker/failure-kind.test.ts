import { ClientOptionsError } from '../pigeonhole/client-options.js';
import { failureKindOf } from './failure-kind.js';

describe('the kind of a failure', () => {
  it('is the configuration if its values do not allow a client', () => {
    expect(failureKindOf(new ClientOptionsError('apiKey', 'is empty'))).toBe('configuration');
  });

  it('is unknown of an error that nobody has written for a person', () => {
    expect(failureKindOf(new TypeError('apiKey is empty'))).toBeUndefined();
  });
});
