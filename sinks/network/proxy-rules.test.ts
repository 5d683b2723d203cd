import { bypassesProxy, isAllowedHost } from './create-dispatcher.js';

describe('the list of hosts without proxy', () => {
  it.each([
    ['https://example.com', '*'],
    ['https://example.com', 'other.org, example.com'],
    ['https://hooks.example.com', 'example.com'],
    ['https://hooks.example.com', '.example.com'],
    ['https://hooks.EXAMPLE.com', '*.Example.com'],
    ['https://example.com', 'example.com:443'],
    ['http://example.com:8080', 'example.com:8080'],
    ['https://10.1.2.3', '10.0.0.0/8'],
    ['https://10.1.2.3', '10.1.2.3'],
    ['https://[fd00::7]', 'fd00::/8'],
    ['https://[fd00::7]:8443', '[fd00::7]:8443'],
    ['https://[fd00::7]', 'fd00::7'],
  ])('covers %s by "%s"', (url, noProxy) => expect(bypassesProxy(new URL(url), noProxy)).toBe(true));

  it.each([
    ['https://example.com', ''],
    ['https://example.com', undefined],
    ['https://badexample.com', 'example.com'],
    ['https://example.com', 'example.com:8443'],
    ['https://11.1.2.3', '10.0.0.0/8'],
    ['https://10.1.2.3', 'fd00::/8'],
    ['https://10.1.2.3', '10.0.0.0/64'],
    ['https://example.com', '10.0.0.0/8'],
  ])('does not cover %s by "%s"', (url, noProxy) => expect(bypassesProxy(new URL(url), noProxy)).toBe(false));

  it.each(['http://localhost:8080', 'http://127.8.0.1', 'http://[::1]:99'])('always covers loopback: %s', (url) =>
    expect(bypassesProxy(new URL(url), undefined)).toBe(true),
  );
});

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
