import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { allSinks } from '../sinks/all-sinks.js';
import { configurationReference, generalReference } from './configuration-reference.js';
import { inputSchemaOf, variants, type JsonSchema } from './parse-tree.js';
import { sinkSchemas } from './load-text.test-kit.js';
import { configSchema } from './schema/config-schema.js';

describe('docs/configuration.md', () => {
  it('is what tools/write-configuration-reference.mjs writes, so run "npm run docs" after a change', () => {
    const written = readFileSync(join(__dirname, '..', 'docs', 'configuration.md'), 'utf8');
    const schemas = Object.fromEntries([...allSinks].map(([type, { configSchema: keys }]) => [type, keys]));
    expect(written).toBe(configurationReference(schemas));
  });
});

describe('the configuration reference', () => {
  it('has a row with a description for each key of a sink type', () => {
    expect(configurationReference(sinkSchemas)).toContain('\n## Sinks of type file\n');
    expect(configurationReference(sinkSchemas)).toContain(
      '\n| `sinks.NAME.folder` | the path of a folder | required |  |\n',
    );
  });

  it('shows a default that applies only if the key is absent', () => {
    expect(generalReference()).toContain('\n| `syncs.NAME.every.live` | a duration from 1s to 30d | `5s` |');
    expect(generalReference()).toContain('\n| `syncs.NAME.every.ended` | a duration from 1s to 30d | `6h` |');
  });

  it('has a description for every key', () => {
    expect(withoutSentence(inputSchemaOf(configSchema), '')).toEqual([]);
  });
});

function withoutSentence(schema: JsonSchema, path: string): string[] {
  return variants(schema).flatMap((shape) => [
    ...Object.entries(shape.properties ?? {}).flatMap(([key, value]) => [
      ...(value.description?.endsWith('.') === true ? [] : [`${path}.${key}`]),
      ...withoutSentence(value, `${path}.${key}`),
    ]),
    ...(typeof shape.additionalProperties === 'object' ? withoutSentence(shape.additionalProperties, `${path}.*`) : []),
    ...(shape.items === undefined ? [] : withoutSentence(shape.items, `${path}[]`)),
  ]);
}
