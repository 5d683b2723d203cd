import { readBaseUrl, ClientOptionsError } from './client-options.js';

describe('a base URL', () => {
  it('may have a leading path and a trailing slash', () => {
    expect(readBaseUrl('https://example.com/engagement/')).toEqual({
      origin: 'https://example.com',
      prefix: '/engagement',
      isSecure: true,
    });
  });

  it.each(['http://localhost:1', 'http://127.0.0.1:1', 'http://127.9.9.9', 'http://[::1]:1', 'http://api.localhost'])(
    'may be plain http on loopback: %s',
    (url) => {
      expect(readBaseUrl(url).isSecure).toBe(false);
    },
  );

  it.each([
    'http://example.com',
    'http://127.0.0.1.example.com',
    'http://localhost.example.com',
    'http://10.0.0.1',
    'ftp://localhost',
    'example.com',
    '',
    'https://user:hidden@example.com',
    'https://example.com?key=hidden',
    'https://example.com/#hidden',
    'https://example.com/v2/',
  ])('is rejected without being repeated in the message: %s', (url) => {
    const refuse = (): unknown => readBaseUrl(url);
    expect(refuse).toThrow(ClientOptionsError);
    expect(refuse).toThrow(/^baseUrl (?!.*hidden)/);
  });
});
