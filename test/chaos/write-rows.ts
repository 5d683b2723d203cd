import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../base/package-root.js';

/**
 * Replaces the table between the two marks of its name in docs/reliability.md.
 * @throws when the page lacks the marks
 */
export function writeRows(name: string, table: string): void {
  const file = join(packageRoot(), 'docs/reliability.md');
  const page = readFileSync(file, 'utf8');
  const between = new RegExp(`(<!-- ${name} -->\n)[^]*?(<!-- /${name} -->)`);
  if (!between.test(page))
    throw new Error(`${file} has no place for ${name}: it stands between <!-- ${name} --> and <!-- /${name} -->`);
  writeFileSync(
    file,
    page.replace(between, (_, head: string, foot: string) => `${head}\n${table}\n\n${foot}`),
  );
}
