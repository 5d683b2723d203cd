const { default: Sequencer } = require('@jest/test-sequencer');

/**
 * Folders with small test files that run for a minute. Without times of an earlier run, as in a fresh clone, Jest
 * orders files by size: these would run last, and one worker would still be busy after all others have finished.
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

/** Sorts tests in Jest's order, but starts with the folders whose tests take longest. */
module.exports = class LongestFirst extends Sequencer {
  sort(tests) {
    const rank = ({ path }) => {
      const place = longest.findIndex((folder) => path.includes(folder));
      return place === -1 ? longest.length : place;
    };
    return super.sort(tests).toSorted((a, b) => rank(a) - rank(b));
  }
};
