const fastCheck = require('../node_modules/fast-check/lib/cjs/fast-check.js');

/**
 * What tests get for `fast-check`: the same draws at every run, so that a run fails for what was changed and not for
 * what was drawn. Other draws, to look for more: PROPERTY_SEED=7 npx jest …
 */
fastCheck.configureGlobal({ seed: Number(process.env.PROPERTY_SEED ?? 20261121) });

module.exports = fastCheck;
