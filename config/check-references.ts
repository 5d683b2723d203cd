import { relative, resolve, sep } from 'node:path';
import type { Problem } from './config-error.js';
import { isLoopback } from '../base/loopback.js';
import { nearestWord } from './nearest-word.js';
import { problemAt } from './parse-tree.js';
import { type KeyPath, type ConfigDocument, namesAt, valueAt } from './read-document.js';
import { defaultStore, storeSetting } from './schema/process.js';
import { Secret } from './secret.js';

/**
 * Checks rules that a schema cannot express: that names refer to existing entries, and that settings which need each
 * other are present. It reads the document and not the schema's result, so it can report its problems together with
 * those that the schema finds.
 * @param folder absolute folder of the file; relative paths start here
 */
export function checkReferences(document: ConfigDocument, folder: string): Problem[] {
  const { tree } = document;
  const problems: Problem[] = [];
  const workspaces = namesAt(tree, ['workspaces']);
  const sinks = namesAt(tree, ['sinks']);
  for (const sync of namesAt(tree, ['syncs'])) {
    problems.push(...checkName(document, ['syncs', sync, 'workspace'], workspaces, 'workspace'));
    for (const position of positionsAt(tree, ['syncs', sync, 'sinks'])) {
      problems.push(...checkName(document, ['syncs', sync, 'sinks', position], sinks, 'sink'));
    }
  }
  for (const position of positionsAt(tree, ['imports'])) {
    problems.push(...checkName(document, ['imports', position, 'workspace'], workspaces, 'workspace'));
  }
  problems.push(...checkExports(document, sinks));
  const host = textAt(tree, ['server', 'host']);
  if (host !== undefined && !isLoopback(host) && valueAt(tree, ['server', 'token']) === undefined) {
    const message =
      'others can reach this address, so a token is needed: set server.token to ${NAME}, or listen on 127.0.0.1';
    problems.push(problemAt(document, ['server', 'host'], message));
  }
  if ((textAt(tree, ['temporal', 'address']) ?? 'embedded') === 'embedded') {
    problems.push(...checkEmbeddedTemporal(document));
    for (const key of ['apiKey', 'tls'].filter((name) => valueAt(tree, ['temporal', name]) !== undefined)) {
      problems.push(
        problemAt(
          document,
          ['temporal', key],
          'the embedded server does not use this key; set temporal.address, or remove the key',
        ),
      );
    }
  }
  return [...problems, ...checkFolders(document, folder), ...checkDropFolders(document, folder)];
}

/** Types of sinks that store whole files (`putFile` in sinks/sink.ts). */
const typesWithFiles: ReadonlySet<string> = new Set(['file', 's3']);

/** Checks that each export names a sink of its own that stores files. */
function checkExports(document: ConfigDocument, sinks: readonly string[]): Problem[] {
  const { tree } = document;
  const positions = positionsAt(tree, ['exports']);
  const named = positions.map((position) => textAt(tree, ['exports', position, 'to']));
  return positions.flatMap((position, index) => {
    const path = ['exports', position, 'to'];
    const name = named[index];
    if (name === undefined) return [];
    const unknown = checkName(document, path, sinks, 'sink');
    if (unknown.length > 0) return unknown;
    const type = textAt(tree, ['sinks', name, 'type']);
    if (type !== undefined && !typesWithFiles.has(type)) {
      return [problemAt(document, path, `the sink ${name} is of type ${type}: name a sink of type file or s3`)];
    }
    if (named.indexOf(name) === index) return [];
    return [problemAt(document, path, `another entry of exports has the sink ${name}; name all tables in one entry`)];
  });
}

/** Refuses an embedded Temporal without an embedded store, whose folder holds its data under the same lock. */
function checkEmbeddedTemporal(document: ConfigDocument): Problem[] {
  if (document.isBroken(['store'])) return [];
  if (storeSetting(textAt(document.tree, ['store']) ?? defaultStore)?.kind !== 'postgres') return [];
  const isWritten = document.isWritten(['temporal', 'address']);
  const message =
    'an embedded Temporal needs an embedded store, and "store" is a PostgreSQL database; set temporal.address to a Temporal server, or store to embedded:FOLDER';
  // The environment of the process that runs may hold TEMPORAL_ADDRESS.
  if (isWritten) return [problemAt(document, ['temporal', 'address'], message)];
  return [{ ...problemAt(document, ['store'], message), isUnresolved: true }];
}

/**
 * Refuses sinks and imports that use the folder of the embedded store. Its files belong to one process, and cleaning up
 * an archive there would delete the ledger. Compares paths as written; links are not followed.
 */
function checkFolders(document: ConfigDocument, folder: string): Problem[] {
  const { tree } = document;
  const store = storeSetting(textAt(tree, ['store']) ?? defaultStore);
  if (store?.kind !== 'embedded') return [];
  const storeFolder = resolve(folder, store.folder);
  const sinkFolders = namesAt(tree, ['sinks']).map((sink) => ['sinks', sink, 'folder']);
  return foldersAt(document, folder, [...sinkFolders, ...dropFolderPaths(tree)])
    .filter(({ absolute }) => isInside(absolute, storeFolder))
    .map(({ path }) =>
      problemAt(document, path, 'this folder is, or is inside, the folder of the embedded store; choose another one'),
    );
}

/** Refuses a folder that two imports name, because its files could go to either. */
function checkDropFolders(document: ConfigDocument, folder: string): Problem[] {
  const found = foldersAt(document, folder, dropFolderPaths(document.tree));
  return found
    .filter(({ absolute }, position) => found.findIndex((other) => other.absolute === absolute) < position)
    .map(({ path }) => problemAt(document, path, 'another entry of imports has this folder; give each one of its own'));
}

function dropFolderPaths(tree: unknown): KeyPath[] {
  return positionsAt(tree, ['imports']).map((position) => ['imports', position, 'folder']);
}

/** Returns the folders that are written at these keys. */
function foldersAt(document: ConfigDocument, folder: string, paths: readonly KeyPath[]) {
  return paths.flatMap((path) => {
    const written = textAt(document.tree, path);
    return written === undefined || document.isBroken(path) ? [] : [{ path, absolute: resolve(folder, written) }];
  });
}

function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`);
}

/**
 * Finds sinks that no sync names. They are allowed, because their backlog may be needed later, but they are usually a
 * mistake.
 */
export function findUnusedSinks(document: ConfigDocument): Problem[] {
  const { tree } = document;
  const used = new Set(
    namesAt(tree, ['syncs']).flatMap((sync) =>
      positionsAt(tree, ['syncs', sync, 'sinks']).map((position) => textAt(tree, ['syncs', sync, 'sinks', position])),
    ),
  );
  return namesAt(tree, ['sinks'])
    .filter((sink) => !used.has(sink))
    .map((sink) =>
      problemAt(
        document,
        ['sinks', sink],
        'no sync names this sink, so nothing is sent to it; add it to the sinks of one',
      ),
    );
}

/** Warns about a public address without a token: every request through it would be refused. */
export function findPublicWithoutToken(document: ConfigDocument): Problem[] {
  const { tree } = document;
  const url = textAt(tree, ['server', 'publicUrl']);
  if (url === undefined || !URL.canParse(url) || isLoopback(new URL(url).hostname)) return [];
  if (valueAt(tree, ['server', 'token']) !== undefined) return [];
  const message = 'others can reach this address, so every request needs a token: set server.token to ${NAME}';
  return [problemAt(document, ['server', 'publicUrl'], message)];
}

function checkName(document: ConfigDocument, path: KeyPath, known: readonly string[], what: string): Problem[] {
  const found = textAt(document.tree, path);
  if (found === undefined || known.includes(found) || document.isBroken(path)) return [];
  const nearest = nearestWord(found, known);
  const hint =
    nearest === undefined
      ? `allowed: ${known.join(', ') || `none, since there is no ${what}`}`
      : `did you mean "${nearest}"?`;
  return [
    problemAt(document, path, `found ${document.placeOf(path).shown}, which is not a ${what} in this file, ${hint}`),
  ];
}

function positionsAt(tree: unknown, path: KeyPath): number[] {
  const list = valueAt(tree, path);
  return Array.isArray(list) ? [...list.keys()] : [];
}

function textAt(tree: unknown, path: KeyPath): string | undefined {
  const found = valueAt(tree, path);
  const text = found instanceof Secret ? found.revealPlain() : found;
  return typeof text === 'string' ? text : undefined;
}
