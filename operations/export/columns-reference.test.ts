import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { columnsReference } from './columns-reference.js';

it('docs/export.md has the columns that an export has', () => {
  const page = readFileSync(join(__dirname, '../../docs/export.md'), 'utf8');
  const [, shown] = /<!-- columns -->\n\n([^]*?)\n\n<!-- end of columns -->/.exec(page) ?? [];
  expect(shown).toBe(columnsReference());
});
