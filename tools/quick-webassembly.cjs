// Tests start many short processes with an embedded store. V8's optimizing compiler would spend about 2 CPU seconds in
// each of them on PGlite's WebAssembly and never earn them back; the baseline compiler produces the same results.
require('node:v8').setFlagsFromString('--liftoff-only');
