import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { builtTemporalPrograms, temporalPrograms } from './temporal-server.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'temporal-server-'));
  for (const name of ['bin', 'cache', 'module']) mkdirSync(join(folder, name));
  writeFileSync(
    join(folder, 'module/go.mod'),
    'module x\n\nrequire (\n\tgo.temporal.io/server v1.31.2 // indirect\n)\n',
  );
});
afterEach(() => rmSync(folder, { recursive: true }));

const place = () => ({
  searchFolders: [join(folder, 'bin')],
  cacheFolder: join(folder, 'cache'),
  goModule: join(folder, 'module'),
});

/** Creates a Go that records its builds and writes an empty program to the requested path. */
function go(): void {
  const script = `#!/bin/sh
    if [ "$1" = env ]; then echo go1.26.4; exit; fi
    for last; do :; done
    echo "$last" >> ${join(folder, 'builds')}
    while [ "$1" != -o ]; do shift; done
    : > "$2"`;
  writeFileSync(join(folder, 'bin/go'), script, { mode: 0o755 });
}

describe("Temporal's server for PostgreSQL", () => {
  it('is built with its SQL tool once, in the version of the Go module', async () => {
    go();
    const programs = {
      server: join(folder, 'cache/temporal-server-1.31.2'),
      sqlTool: join(folder, 'cache/temporal-sql-tool-1.31.2'),
    };
    expect(builtTemporalPrograms(place())).toBeUndefined();
    expect(await temporalPrograms(place(), () => undefined)).toEqual(programs);
    expect(await temporalPrograms(place(), () => undefined)).toEqual(programs);
    expect(builtTemporalPrograms(place())).toEqual(programs);
    expect(readFileSync(join(folder, 'builds'), 'utf8').trim().split('\n')).toEqual([
      'go.temporal.io/server/cmd/server',
      'go.temporal.io/server/cmd/tools/sql',
    ]);
  });

  it('is missing while its SQL tool is missing', () => {
    writeFileSync(join(folder, 'cache/temporal-server-1.31.2'), '');
    expect(builtTemporalPrograms(place())).toBeUndefined();
  });

  it('cannot be built without Go, and the error says what to install', async () => {
    const lines: string[] = [];
    await expect(temporalPrograms(place(), (line) => lines.push(line))).rejects.toThrow('install Go 1.26.4 or newer');
    expect(lines).toEqual(["Temporal's server for PostgreSQL cannot be built: Go 1.26.4 or newer is not installed"]);
  });
});
