require('./compile-once.cjs');
require('./quick-webassembly.cjs');
// The processes that tests start inherit it.
process.env.NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ''} --require ${JSON.stringify(require.resolve('./quick-webassembly.cjs'))}`;
const { rmSync, readFileSync } = require('node:fs');
const { TestEnvironment } = require('jest-environment-node');

/** Plain data that one test file leaves to the later ones of the same process of Jest's, by name. */
const kept = new Map();
/** Removed when the process ends. A server may still be writing there. */
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
 * Jest's environment for Node, with what lasts longer than one test file: see `test/lasting.ts`. V8 compiles WebAssembly
 * once for all threads of a process, for as long as the process holds the result. If this process holds PGlite's engine,
 * each further embedded store of the process takes 1 to 2 s less to open and use.
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
