import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import type { NameKind } from './command-tree.js';

/**
 * Names that stand in a configuration, for a shell that completes a word: from the text of the file alone, without
 * looking whether it can be used, since somebody waits for it at each key. None where it cannot be read.
 */
export async function namesInConfiguration(file: string, of: NameKind): Promise<string[]> {
  const document = await readFile(file, 'utf8')
    .then((text) => parse(text, { logLevel: 'silent' }) as unknown)
    .catch(() => undefined); // a shell shows nothing of an error, and nobody has asked for one
  const keysOf = (part: string): string[] => {
    const group = isRecord(document) ? document[part] : undefined;
    // what a shell would take for something else is no name that a configuration may have
    return isRecord(group) ? Object.keys(group).filter((name) => /^[a-z0-9][a-z0-9-]{0,62}$/.test(name)) : [];
  };
  if (of !== 'places') return keysOf(of);
  return [
    ...keysOf('workspaces').map((name) => `workspace:${name}`),
    ...keysOf('sinks').map((name) => `sink:${name}`),
    ...keysOf('workspaces').map((name) => `pigeonhole:${name}/`),
  ];
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
