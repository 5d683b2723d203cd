// Removes files that the image never loads from a pruned /app (decision 0052): native code of other platforms, the
// bundler's compiler, the embedded store, benchmarks, source maps, type declarations and sources.
//   node tools/trim-image.mjs [FOLDER]
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

if (process.argv.includes('--help')) {
  console.log('usage: node tools/trim-image.mjs [FOLDER (.)]');
  process.exit(0);
}
const root = resolve(process.argv[2] ?? '.');
const bridge = join(root, 'node_modules/@temporalio/core-bridge');
const { getPrebuiltTargetName } = createRequire(import.meta.url)(join(bridge, 'common.js'));
const own = getPrebuiltTargetName();
if (!existsSync(join(bridge, 'releases', own, 'index.node'))) throw new Error(`@temporalio/core-bridge has no ${own}`);

/** Folders to remove. */
const unused = [
  ...readdirSync(join(bridge, 'releases'))
    .filter((name) => name !== own)
    .map((name) => join(bridge, 'releases', name)),
  ...['sdk-core', 'src', 'ts', 'bridge-macros', 'scripts'].map((name) => join(bridge, name)),
  ...readdirSync(join(root, 'node_modules/@swc'))
    .filter((name) => name.startsWith('core-'))
    .map((name) => join(root, 'node_modules/@swc', name)),
  join(root, 'node_modules/@electric-sql'),
  join(root, 'dist/ledger/new-store'),
  join(root, 'dist/bench'),
];
const unusedFile = /\.(?:map|ts|mts|cts|tsbuildinfo)$/;

let freed = 0;
for (const folder of unused) remove(folder);
for (const folder of ['node_modules', 'dist']) {
  for (const entry of readdirSync(join(root, folder), { recursive: true, withFileTypes: true })) {
    if (entry.isFile() && unusedFile.test(entry.name)) remove(join(entry.parentPath, entry.name));
  }
}
console.log(`${Math.round(freed / 1e6)} MB removed`);

function remove(path) {
  if (!existsSync(path)) return;
  freed += sizeOf(path);
  rmSync(path, { recursive: true });
}

function sizeOf(path) {
  const found = statSync(path);
  return found.isDirectory() ? readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0) : found.size;
}
