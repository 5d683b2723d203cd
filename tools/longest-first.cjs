const { default: Sequencer } = require('@jest/test-sequencer');

/**
 * Seconds of the files and folders that take longest, for a run without times of an earlier one, as in a fresh clone.
 * Jest would order those by size, so that one worker is still busy with a small file after all others have finished.
 */
const seconds = {
  '/test/browser/page.': 290,
  '/test/system/terminal.': 190,
  '/test/system/bad-input.': 145,
  '/test/system/operations.': 130,
  '/test/properties/reading.': 110,
  '/test/chaos/chaos.': 110,
  '/operations/backup/backup.': 95,
  '/test/crash/': 60,
  '/test/scenarios/alert-rules.': 60,
  '/test/costs/quiet-polls.': 60, // waits for due polls
  '/test/system/': 50,
  '/ledger/drivers/embedded.': 50,
  '/test/scenarios/': 20,
  '/test/faults/': 20,
  '/test/costs/': 20,
  '/test/conformance/': 20,
  '/test/imports/': 20,
  '/test/embedded-temporal/': 20,
  '/cli/exit-codes.': 20,
};

/** Starts the tests that take longest first, so that all workers end together. */
module.exports = class LongestFirst extends Sequencer {
  sort(tests) {
    const known = Object.entries(seconds);
    const msOf = ({ path, duration }) => duration ?? 1000 * (known.find(([part]) => path.includes(part))?.[1] ?? 0);
    return super.sort(tests).toSorted((a, b) => msOf(b) - msOf(a)); // `sort` reads the durations of the last run
  }
};
