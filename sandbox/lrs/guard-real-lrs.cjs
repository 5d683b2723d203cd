// Loaded before a real LRS (real-lrs.test-kit.ts). Without this file, the LRS would listen on every address of the
// machine and keep running after a test run is killed.
const { Server } = require('node:net');

// oxlint-disable-next-line typescript/unbound-method -- called with its own `this` below
const { listen } = Server.prototype;
Server.prototype.listen = function (port, ...rest) {
  return typeof port === 'number' ? listen.call(this, port, '127.0.0.1', ...rest) : listen.call(this, port, ...rest);
};
process.on('disconnect', () => process.exit());
