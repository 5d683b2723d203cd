// Jest runs each test file in a context of its own and compiles every module again in each of them. Here a process
// compiles a module once; later contexts run the compiled result, with the functions that were compiled on demand.
const vm = require('node:vm');

const { compileFunction } = vm;
/** By file name: the source of a module and its compiled wrapper. */
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
