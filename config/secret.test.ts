import { inspect } from 'node:util';
import { Secret } from './secret.js';

describe('a secret', () => {
  const secret = new Secret('hunter2');

  it('returns its text on request', () => {
    expect(secret.reveal()).toBe('hunter2');
  });

  it.each([
    ['a list', () => ['', secret, ''].join()],
    ['a concatenation', () => 'a' + String(secret)],
    ['JSON', () => JSON.stringify({ secret, list: [secret] })],
    ['inspect', () => inspect({ secret }, { depth: 9, showHidden: true })],
    ['inspect without custom functions', () => inspect(secret, { customInspect: false, showHidden: true })],
    ['an error', () => new Error('refused', { cause: secret }).stack + inspect(new Error(`refused ${String(secret)}`))],
    ['its keys and values', () => JSON.stringify([Object.entries(secret), Object.assign({}, secret)])],
  ])('does not reveal it in %s', (_, print) => {
    expect(print()).not.toContain('hunter2');
  });
});
