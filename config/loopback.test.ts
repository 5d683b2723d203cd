import { isLoopback } from './loopback.js';

describe('the check for a loopback address', () => {
  it.each(['localhost', 'LOCALHOST', '127.0.0.1', '127.1.2.3', '::1', '[::1]'])('accepts %s', (host) => {
    expect(isLoopback(host)).toBe(true);
  });

  it.each(['0.0.0.0', '::', '10.0.0.1', '127.0.0.1.example.com', '127.x', 'localhost.example.com', 'example.com', ''])(
    'rejects %j',
    (host) => {
      expect(isLoopback(host)).toBe(false);
    },
  );
});
