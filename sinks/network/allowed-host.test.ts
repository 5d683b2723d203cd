import { isAllowedHost } from './allowed-host.js';

describe('an allowed host', () => {
  it.each([
    ['hooks.example.com', ['other.org', 'Hooks.Example.com']],
    ['hooks.example.com.', ['hooks.example.com']],
    ['a.b.example.com', ['.example.com']],
  ])('is %s by %j', (host, list) => expect(isAllowedHost(host, list)).toBe(true));

  it.each([
    ['hooks.example.com', []],
    ['hooks.example.com', ['example.com']],
    ['example.com', ['.example.com']],
    ['badexample.com', ['.example.com']],
    ['example.com.evil.org', ['example.com', '.example.com']],
  ])('is not %s by %j', (host, list) => expect(isAllowedHost(host, list)).toBe(false));
});
