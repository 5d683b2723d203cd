import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(__dirname, '../..');

/** A type that a vendor publishes for a request body or a part of it. */
export interface PublishedType {
  readonly package: string;
  /** TypeScript expression with `vendor` as the namespace of the package, unless the package is `global`. */
  readonly type: string;
  /** Whether the package declares global namespaces and exports nothing. */
  readonly global?: boolean;
}

/**
 * Compiles values, as they were sent, as literals of a vendor's published type. The compiler then reports unknown keys
 * as well as missing ones and wrong values. Takes about a second.
 * @returns what the compiler reports, one line each; empty if every value fits. A test adds one wrong value, so that it
 *   would notice a type that accepts everything
 */
export function typeErrors(published: PublishedType, values: readonly unknown[]): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'published-type-'));
  try {
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    const head = published.global === true ? '' : `import type * as vendor from '${published.package}';\n`;
    const lines = values.map((value, at) => `export const value${at}: ${published.type} = ${JSON.stringify(value)};`);
    writeFileSync(join(folder, 'values.ts'), `${head}${lines.join('\n')}\n`);
    const compilerOptions = {
      module: 'node20',
      target: 'es2023',
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      types: published.global === true ? [published.package] : [],
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['values.ts'] }));
    execFileSync(join(root, 'node_modules/.bin/tsc'), ['-p', folder, '--pretty', 'false'], { encoding: 'utf8' });
    return [];
  } catch (error) {
    const { stdout } = error as { stdout?: string };
    if (stdout === undefined || stdout === '') throw error;
    return stdout.trim().split('\n');
  } finally {
    rmSync(folder, { recursive: true });
  }
}
