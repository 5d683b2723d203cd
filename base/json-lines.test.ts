import { jsonLines } from './json-lines.js';

it('lines of NDJSON end at line feeds only, wherever the bytes are split', async () => {
  const rows = ['a\u2028b\u2029c', 'ä\r', '😀'];
  const bytes = Buffer.from(rows.map((row) => JSON.stringify(row)).join('\n'));
  const singles = async function* () {
    for (const byte of bytes) yield Uint8Array.of(byte);
  };
  const read: unknown[] = [];
  for await (const line of jsonLines(singles())) read.push(JSON.parse(line));
  expect(read).toEqual(rows);
});
