import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { ConfigError } from './config-error.js';
import type { Config } from './config.js';
import type { Environment } from './environment.js';
import { loadConfig } from './load-config.js';
import type { SinkSchemas } from './parse-sinks.js';
import { editorProblems } from './published-schema.test-kit.js';
import { folder, secret } from './values.js';

/** Two sink types without their own checks, because these tests are about the loader. */
export const sinkSchemas = {
  webhook: z.strictObject({
    url: z.url({ error: 'allowed: an http or https URL' }),
    secret: z.union([secret(), z.array(secret())]),
    allowPrivateAddresses: z.boolean().default(false),
  }),
  file: z.object({ folder: folder() }), // accepts unknown keys, as a sink might by mistake
};

/** Loads a text as pigeonpost.yaml from a temporary folder that also contains `files`. */
export async function loadText(
  text: string,
  environment: Environment = {},
  files: Record<string, string> = {},
  types: SinkSchemas = sinkSchemas,
): Promise<Config> {
  const place = await mkdtemp(join(tmpdir(), 'pigeonpost-config-'));
  try {
    for (const [name, content] of Object.entries({ 'pigeonpost.yaml': text, ...files }))
      await writeFile(join(place, name), content);
    const config = await loadConfig(join(place, 'pigeonpost.yaml'), environment, { sinkSchemas: types });
    // The published schema has to accept every file that loads in a test, without keys that have nothing after their colon.
    const full: unknown = JSON.parse(JSON.stringify(parse(text), (_key, value: unknown) => value ?? undefined));
    const wrong = editorProblems(full, types);
    if (wrong.length > 0) throw new Error(`docs/pigeonpost.schema.json refuses it: ${wrong.join('; ')}`);
    return config;
  } finally {
    await rm(place, { recursive: true });
  }
}

/** Returns the problems of a text as `line: key: message`; an empty list if it loads. */
export async function problemsOf(
  text: string,
  environment: Environment = {},
  files: Record<string, string> = {},
): Promise<string[]> {
  const error = await errorOf(text, environment, files);
  return (error?.problems ?? []).map(({ line, key, message }) =>
    key === '' ? `${line}: ${message}` : `${line}: ${key}: ${message}`,
  );
}

export async function errorOf(
  text: string,
  environment: Environment = {},
  files: Record<string, string> = {},
  types: SinkSchemas = sinkSchemas,
): Promise<ConfigError | undefined> {
  try {
    await loadText(text, environment, files, types);
    return undefined;
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
}

/** The smallest file that loads. */
export const smallest = `workspaces:
  acme:
    baseUrl: https://engagement.example.com
    apiKey: \${ACME_API_KEY}
syncs:
  conferences:
    workspace: acme
    sinks: [archive]
sinks:
  archive:
    type: file
    folder: ./archive
`;

export const smallestEnvironment: Environment = { ACME_API_KEY: 'key-1f9c' };

/** Returns the smallest file with one change. Throws if the change does not apply. */
export function smallestWith(change: { replace: string; by: string } | { append: string }): string {
  if ('append' in change) return smallest + change.append;
  if (!smallest.includes(change.replace)) throw new Error(`the smallest file has no ${change.replace}`);
  return smallest.replace(change.replace, () => change.by);
}
