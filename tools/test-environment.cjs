require('./compile-once.cjs');
require('./quick-webassembly.cjs');
// Processes that tests start inherit this option.
process.env.NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ''} --require ${JSON.stringify(require.resolve('./quick-webassembly.cjs'))}`;
const { rmSync, readFileSync } = require('node:fs');
const { TestEnvironment } = require('jest-environment-node');

/** Plain data by name, which a test file leaves for later ones in the same Jest process. */
const kept = new Map();
/** Folders to remove when the process ends. A server may still be writing there. */
const folders = new Set();
let engine;

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
 * each further embedded store needs 1 to 2 s less to open and use.
 */
module.exports = class extends TestEnvironment {
  async setup() {
    await super.setup();
    this.global.pigeonpostLasting = {
      kept,
      folders,
      async keepEmbeddedEngine() {
        engine ??= WebAssembly.compile(readFileSync(require.resolve('@electric-sql/pglite/pglite.wasm')));
        await engine;
      },
    };
  }
};
