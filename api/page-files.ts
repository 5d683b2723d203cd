import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

/** A file of the built page, as it is sent. */
export interface PageFile {
  readonly type: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly zipped: Uint8Array<ArrayBuffer>;
  /** Of its content. */
  readonly tag: string;
  /** Its name changes with its content, so that a browser need not ask for it again. */
  readonly lasting: boolean;
}

/** By the path under which a browser asks for it. */
export type PageFiles = ReadonlyMap<string, PageFile>;

const types: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

/**
 * The page as it was built, read whole: some hundred kilobytes. Nothing else can ever be asked for by a path, since only
 * these names are known.
 * @returns none where it was not built
 */
export function readPageFiles(folder: string): PageFiles {
  const files = new Map<string, PageFile>();
  for (const path of filesBelow(folder)) {
    const type = types[path.split('.').at(-1)!];
    if (type === undefined) continue;
    const bytes = new Uint8Array(readFileSync(join(folder, path)));
    files.set(path === 'index.html' ? '/' : `/${path}`, {
      type,
      bytes,
      zipped: new Uint8Array(gzipSync(bytes, { level: 9 })),
      tag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`,
      lasting: path.startsWith('assets/'),
    });
  }
  return files;
}

function filesBelow(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
