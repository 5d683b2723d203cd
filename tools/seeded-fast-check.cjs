const fastCheck = require('../node_modules/fast-check/lib/cjs/fast-check.js');

/**
 * Replaces `fast-check` in tests: every run draws the same values, so that a run fails because of a change and not
 * because of a draw. To try other values, use PROPERTY_SEED=7 npx jest …
 */
fastCheck.configureGlobal({ seed: Number(process.env.PROPERTY_SEED ?? 20261121) });

module.exports = fastCheck;
