import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot, packageVersion } from '../base/package-root.js';

/** Those whose version says most when something goes wrong. */
const told = ['@temporalio/worker', '@electric-sql/pglite', 'pg', 'undici', 'jsonata'] as const;

/** Of pigeonpost, Node and what it rests on, by name; "not installed" where a package is not there. */
export function installedVersions(): Record<string, string> {
  const versionOf = (name: string): string => {
    try {
      const text = readFileSync(join(packageRoot(), 'node_modules', name, 'package.json'), 'utf8');
      return (JSON.parse(text) as { version: string }).version;
    } catch {
      return 'not installed'; // or hoisted elsewhere: a report says what it knows
    }
  };
  return {
    pigeonpost: packageVersion(),
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    ...Object.fromEntries(told.map((name) => [name, versionOf(name)])),
  };
}
