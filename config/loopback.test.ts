import { isLoopback } from './loopback.js';

describe('loopback', () => {
  it.each(['localhost', 'LOCALHOST', '127.0.0.1', '127.1.2.3', '::1', '[::1]'])('is %s', (host) => {
    expect(isLoopback(host)).toBe(true);
  });

  it.each(['0.0.0.0', '::', '10.0.0.1', '127.0.0.1.example.com', '127.x', 'localhost.example.com', 'example.com', ''])(
    'is not %j',
    (host) => {
      expect(isLoopback(host)).toBe(false);
    },
  );
});
