import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Returns the folder of this package, whether it runs from its build or from its sources. */
export function packageRoot(): string {
  let folder = __dirname;
  while (!existsSync(join(folder, 'package.json'))) {
    const above = dirname(folder);
    if (above === folder) throw new Error(`${__dirname} is in no package: reinstall pigeonpost`);
    folder = above;
  }
  return folder;
}

/** Returns the version of this package. */
export function packageVersion(): string {
  const { version } = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as { version: string };
  return version;
}

/**
 * Returns the built file of a program that runs as a separate process.
 * @param name the program's path without `dist/` and `.js`
 */
export function builtProgram(name: string): string {
  const file = join(packageRoot(), 'dist', `${name}.js`);
  if (!existsSync(file)) throw new Error(`pigeonpost is not built: run "npm run build" (no ${file})`);
  return file;
}

/** Packages whose version helps most to diagnose a problem. */
const reported = ['@temporalio/worker', '@electric-sql/pglite', 'pg', 'undici', 'jsonata'] as const;

/**
 * Returns the versions of pigeonpost, Node and important packages, by name; "not installed" if a package is missing.
 */
export function installedVersions(): Record<string, string> {
  const versionOf = (name: string): string => {
    // npm installs the packages of a package beside it or below it.
    const folders = require.resolve.paths(name) ?? [];
    const file = folders.map((folder) => join(folder, name, 'package.json')).find((path) => existsSync(path));
    if (file === undefined) return 'not installed';
    return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
  };
  return {
    pigeonpost: packageVersion(),
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    ...Object.fromEntries(reported.map((name) => [name, versionOf(name)])),
  };
}
