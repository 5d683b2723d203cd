// Runs a TypeScript file of this repository without a type check (`npm run types` does that), for commands that belong
// to the tests and not to the build. Usage: node tools/run-typescript.cjs test/chaos/main.ts [arguments]
const Module = require('node:module');
const { existsSync, readFileSync } = require('node:fs');
const path = require('node:path');
const { transformSync } = require('@swc/core');

const resolveFilename = Module._resolveFilename;
// Sources import each other by the file names of the build.
Module._resolveFilename = function (request, parent, ...rest) {
  if (/^\.{1,2}\/.*\.js$/.test(request) && parent?.filename?.endsWith('.ts')) {
    const source = path.resolve(path.dirname(parent.filename), request).replace(/\.js$/, '.ts');
    if (existsSync(source)) return source;
  }
  return resolveFilename.call(this, request, parent, ...rest);
};

require.extensions['.ts'] = (module, filename) => {
  const { code } = transformSync(readFileSync(filename, 'utf8'), {
    filename,
    sourceMaps: 'inline',
    jsc: { parser: { syntax: 'typescript' }, target: 'es2023' },
    module: { type: 'commonjs' },
  });
  module._compile(code, filename);
};

process.setSourceMapsEnabled(true);
const [program, ...args] = process.argv.slice(2);
if (program === undefined || program === '--help') {
  const help = program === '--help';
  (help ? process.stdout : process.stderr).write('usage: node tools/run-typescript.cjs FILE [arguments]\n');
  process.exit(help ? 0 : 2);
}
process.argv = [process.argv[0], path.resolve(program), ...args];
require(path.resolve(program));
