import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

/** Rooms below a slice: base, configuration, the service with its quota, the store, the sinks, and what every cycle receives. */
const ground = ['base', 'config', 'pigeonhole', 'ledger', 'sinks', 'requests', 'cycles'];
const slices = ['people', 'reading', 'delivering', 'importing'];

/** Rooms that each room may import (docs/decisions/0083). Tests and test kits may cross. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  base: [],
  config: ['base'],
  pigeonhole: ['base'],
  ledger: ['base', 'pigeonhole'],
  sinks: ['base', 'config'],
  requests: ['base', 'config', 'pigeonhole', 'ledger'],
  cycles: ['base', 'config', 'pigeonhole', 'ledger', 'sinks', 'requests'],
  people: ground,
  reading: [...ground, 'people'],
  delivering: [...ground, 'people'],
  importing: [...ground, 'people'],
  operations: [...ground, ...slices, 'workflows'],
  activities: [...ground, ...slices, 'operations'],
  workflows: ['activities', 'cycles'],
  api: [...ground, ...slices, 'operations', 'workflows'],
  worker: [...ground, ...slices, 'operations', 'activities', 'workflows', 'api'],
  cli: ['base', 'api', 'worker', 'operations', 'importing', 'sinks'],
  dashboard: ['base', 'api', 'importing', 'operations', 'sinks'],
  sandbox: [],
};

/** Imports of types only, which load nothing of the other folder. */
const typesOnly: readonly string[] = [
  'workflows -> activities',
  'workflows -> cycles',
  'cli -> api',
  'dashboard -> api',
  'dashboard -> importing',
  'dashboard -> operations',
];

const root = resolve(__dirname, '../..');

/** Files of the sinks that are data only. */
const readable: ReadonlySet<string> = new Set(['sinks/reason-words', 'sinks/all-forms', 'sinks/connect']);

/** The folders of the sinks, as `all-sinks.ts` imports them. Other folders in sinks/ are shared by several sinks. */
const sinkFolders: ReadonlySet<string> = new Set(
  importPaths('sinks/all-sinks.ts').flatMap(({ path }) => /^\.\/([^/]+)\//.exec(path)?.[1] ?? []),
);

describe('the rooms', () => {
  it.each(Object.keys(mayImport))('%s imports only folders that the design allows', (room) => {
    const strangers = sourcesOf(room)
      .flatMap(importsOf)
      .filter(({ target }) => target !== room && !mayImport[room]!.includes(target))
      .map(({ file, path }) => `${file} -> ${path}`);
    expect(strangers).toEqual([]);
  });

  it.each(typesOnly)('%s imports only types', (arrow) => {
    const [from, to] = arrow.split(' -> ');
    const loads = sourcesOf(from!)
      .flatMap(importsOf)
      .filter(({ target, typeOnly }) => target === to && !typeOnly)
      .map(({ file, path }) => `${file} -> ${path}`);
    expect(loads).toEqual([]);
  });

  it.each(['cli', 'dashboard'])(
    '%s imports of the sinks only what their reasons and causes mean, and their forms',
    (room) => {
      const loads = sourcesOf(room)
        .flatMap(importsOf)
        .filter(({ target, path }) => target === 'sinks' && !readable.has(path))
        .map(({ file, path }) => `${file} -> ${path}`);
      expect(loads).toEqual([]);
    },
  );

  it('declare the forms of sinks without other code, because every command loads them', () => {
    const forms = sourcesOf('sinks').filter((file) => /\/(?:all-forms|connect)\.ts$/.test(file));
    expect(forms.length).toBeGreaterThan(2);
    const loads = forms
      .flatMap(importsOf)
      .filter(({ path, typeOnly }) => !typeOnly && !path.endsWith('/connect'))
      .map(({ file, path }) => `${file} -> ${path}`);
    expect(loads).toEqual([]);
  });

  it('declare the reasons of sinks without other code, because the page loads them', () => {
    const declarations = sourcesOf('sinks').filter((file) => /\/(?:all-)?reasons\.ts$/.test(file));
    const loads = declarations
      .flatMap(importsOf)
      .filter(({ path }) => !path.endsWith('/reasons'))
      .map(({ file, path }) => `${file} -> ${path}`);
    expect(loads).toEqual([]);
  });

  it('have no import cycles', () => {
    const arrows = Object.keys(mayImport).map((room) => ({
      room,
      targets: new Set(
        sourcesOf(room)
          .flatMap(importsOf)
          .filter(({ typeOnly, target }) => !typeOnly && target !== room)
          .map(({ target }) => target),
      ),
    }));
    const circles = arrows.filter(({ room }) => reaches(arrows, room, room));
    expect(circles.map(({ room }) => room)).toEqual([]);
  });

  it('never import one sink from another', () => {
    const crossings = sourcesOf('sinks').flatMap((file) =>
      importPaths(file)
        .map(({ path }) => relative(join(root, 'sinks'), resolve(dirname(join(root, file)), path)).split('/')[0]!)
        .filter((folder) => {
          const own = file.split('/')[1]!;
          return sinkFolders.has(own) && sinkFolders.has(folder) && folder !== own;
        })
        .map((folder) => `${file} imports ${folder}`),
    );
    expect(crossings).toEqual([]);
  });

  it('read the environment only in config', () => {
    const readers = Object.keys(mayImport)
      .flatMap(sourcesOf)
      .filter((file) => !file.startsWith('config/') && /process\.env\b/.test(readFileSync(join(root, file), 'utf8')));
    expect(readers).toEqual([]);
  });
});

function reaches(
  arrows: readonly { room: string; targets: ReadonlySet<string> }[],
  from: string,
  to: string,
  seen = new Set<string>(),
): boolean {
  for (const next of arrows.find(({ room }) => room === from)?.targets ?? []) {
    if (next === to) return true;
    if (!seen.has(next) && reaches(arrows, next, to, seen.add(next))) return true;
  }
  return false;
}

/** The room's own files, without tests and what only tests use; relative to the root. */
function sourcesOf(room: string): string[] {
  return readdirSync(join(root, room), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .filter((file) => !/\.(test|test-kit)\.ts$/.test(file));
}

interface Import {
  readonly file: string;
  /** Imported paths from the root, without suffix. */
  readonly path: string;
  readonly target: string;
  readonly typeOnly: boolean;
}

function importsOf(file: string): Import[] {
  return importPaths(file).map(({ path: written, typeOnly }) => {
    const path = relative(root, resolve(dirname(join(root, file)), written)).replace(/\.js$/, '');
    return { file, path, target: path.split('/')[0]!, typeOnly };
  });
}

function importPaths(file: string): { path: string; typeOnly: boolean }[] {
  const text = readFileSync(join(root, file), 'utf8');
  return [...text.matchAll(/^(import|export)\s+(type\s+)?(?:[^'";]*?\s+from\s+)?'(\.[^']+)'/gms)]
    .map((match) => ({
      path: match[3]!,
      typeOnly: match[2] !== undefined || onlyInlineTypes(match[0]),
    }))
    .concat([...text.matchAll(/import\('(\.[^']+)'\)/g)].map((match) => ({ path: match[1]!, typeOnly: false })));
}

/** Whether all names of an import are marked as types, so that it loads nothing. */
function onlyInlineTypes(statement: string): boolean {
  const names =
    /\{([^}]*)\}/s
      .exec(statement)?.[1]
      ?.split(',')
      .map((name) => name.trim())
      .filter(Boolean) ?? [];
  return names.length > 0 && names.every((name) => name.startsWith('type '));
}
