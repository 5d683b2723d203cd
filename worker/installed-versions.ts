import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot, packageVersion } from '../base/package-root.js';

/** Packages whose version helps most to diagnose a problem. */
const reported = ['@temporalio/worker', '@electric-sql/pglite', 'pg', 'undici', 'jsonata'] as const;

/**
 * Returns the versions of pigeonpost, Node and important packages, by name; "not installed" if a package is missing.
 */
export function installedVersions(): Record<string, string> {
  const versionOf = (name: string): string => {
    try {
      const text = readFileSync(join(packageRoot(), 'node_modules', name, 'package.json'), 'utf8');
      return (JSON.parse(text) as { version: string }).version;
    } catch {
      return 'not installed'; // or it is installed elsewhere
    }
  };
  return {
    pigeonpost: packageVersion(),
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    ...Object.fromEntries(reported.map((name) => [name, versionOf(name)])),
  };
}
