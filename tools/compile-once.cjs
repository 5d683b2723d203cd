// Jest runs each test file in its own context and compiles every module again in each. With this file, a process
// compiles a module once; later contexts use the result, including functions that were compiled on demand.
const vm = require('node:vm');

const { compileFunction } = vm;
/** The source and the compiled wrapper of each module, by file name. */
const compiled = new Map();

vm.compileFunction = (code, parameters, options) => {
  const { filename, parsingContext } = options ?? {};
  if (parsingContext === undefined || filename === undefined) return compileFunction(code, parameters, options);
  let known = compiled.get(filename);
  if (known?.code !== code) {
    const start = `(function (${parameters.join(',')}) {`;
    const script = new vm.Script(`${start}${code}\n})`, { filename, columnOffset: -start.length });
    known = { code, script };
    compiled.set(filename, known);
  }
  return known.script.runInContext(parsingContext);
};
