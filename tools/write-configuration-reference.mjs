// Writes docs/configuration.md from the schemas in config/ and sinks/. Run it after `npm run build` whenever a key or its
// description changes. A unit test fails if that was forgotten.
import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const { configurationReference } = require('../dist/config/configuration-reference.js');
const { allSinks } = require('../dist/sinks/all-sinks.js');

const schemas = Object.fromEntries([...allSinks].map(([type, { configSchema }]) => [type, configSchema]));
await writeFile(new URL('../docs/configuration.md', import.meta.url), configurationReference(schemas));
