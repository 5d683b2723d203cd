const { default: Sequencer } = require('@jest/test-sequencer');

/**
 * Where few lines of a test keep processes, or a random life, going for a minute. Jest guesses by the size of a file
 * where it has no times of an earlier run, as in a fresh clone: these would come last, and one worker would end alone.
 */
const longest = [
  '/test/chaos/',
  '/test/properties/',
  '/test/browser/',
  '/test/system/bad-input',
  '/operations/backup/',
  '/test/system/',
  '/test/conformance/sinks/file',
  '/test/crash/',
  '/ledger/drivers/embedded.test',
  '/test/scenarios/first-load',
  '/test/scenarios/errors',
  '/cli/exit-codes',
  '/test/embedded-temporal/',
  '/test/conformance/',
  '/sinks/mapping/expression.test',
  '/test/imports/',
  '/test/scenarios/',
  '/ledger/',
];

/** Jest's order, but the folders whose tests take longest before all others. */
module.exports = class LongestFirst extends Sequencer {
  sort(tests) {
    const rank = ({ path }) => {
      const place = longest.findIndex((folder) => path.includes(folder));
      return place === -1 ? longest.length : place;
    };
    return super.sort(tests).toSorted((a, b) => rank(a) - rank(b));
  }
};
