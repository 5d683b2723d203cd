require('./compile-once.cjs');
require('./quick-webassembly.cjs');
// Processes that tests start inherit this option.
process.env.NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ''} --require ${JSON.stringify(require.resolve('./quick-webassembly.cjs'))}`;
const { AsyncLocalStorage } = require('node:async_hooks');
const crypto = require('node:crypto');
const { rmSync, readFileSync } = require('node:fs');
const { TestEnvironment } = require('jest-environment-node');

/** Plain data by name, which a test file leaves for later ones in the same Jest process. */
const kept = new Map();
/** Folders to remove when the process ends. A server may still be writing there. */
const folders = new Set();
let engine;

/** Storages that the present test file has used. While Node knows them, each new promise costs time for each of them. */
const storages = new Set();
for (const use of ['run', 'enterWith']) {
  const method = AsyncLocalStorage.prototype[use];
  AsyncLocalStorage.prototype[use] = function used(...args) {
    storages.add(this);
    return method.apply(this, args);
  };
}

/** RSA keys in the order in which test files generate them, as each takes up to half a second. */
const keys = [];
let generated = 0;
const { generateKeyPairSync } = crypto;
crypto.generateKeyPairSync = (type, options) => {
  const isUsual = type === 'rsa' && JSON.stringify(options) === '{"modulusLength":2048}';
  return isUsual ? (keys[generated++] ??= generateKeyPairSync(type, options)) : generateKeyPairSync(type, options);
};

process.once('exit', () => {
  for (const folder of folders) {
    try {
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    } catch {
      // the next run removes it: see `test/lend-database.ts`
    }
  }
});

/**
 * Jest's environment for Node with resources that outlive a test file (`test/lasting.ts`). V8 compiles WebAssembly once
 * for all threads of a process, as long as the process keeps the result. Because this process keeps PGlite's engine,
 * each further embedded store needs 1 to 2 s less to open and use. What a test file leaves in Node itself ends with it.
 */
module.exports = class extends TestEnvironment {
  async setup() {
    await super.setup();
    generated = 0;
    this.global.pigeonpostLasting = {
      kept,
      folders,
      async keepEmbeddedEngine() {
        engine ??= WebAssembly.compile(readFileSync(require.resolve('@electric-sql/pglite/pglite.wasm')));
        await engine;
      },
    };
  }

  async teardown() {
    await super.teardown();
    for (const storage of storages) storage.disable();
    storages.clear();
  }
};
