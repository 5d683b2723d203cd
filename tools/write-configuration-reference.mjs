// Writes docs/configuration.md and docs/pigeonpost.schema.json from the schemas in config/ and sinks/. Run it after
// `npm run build` whenever a key or its description changes. A unit test fails if that was forgotten.
import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const { configurationReference } = require('../dist/config/configuration-reference.js');
const { publishedSchema } = require('../dist/config/published-schema.js');
const { allSinks } = require('../dist/sinks/all-sinks.js');

const schemas = Object.fromEntries([...allSinks].map(([type, { configSchema }]) => [type, configSchema]));
const docs = new URL('../docs/', import.meta.url);
await writeFile(new URL('configuration.md', docs), configurationReference(schemas));
await writeFile(new URL('pigeonpost.schema.json', docs), `${JSON.stringify(publishedSchema(schemas), null, 1)}\n`);
