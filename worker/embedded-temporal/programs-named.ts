import { accessSync, constants, statSync } from 'node:fs';
import { join } from 'node:path';

/** The programs of a name in some folders, in the order of the folders. */
export function programsNamed(name: string, folders: readonly string[]): string[] {
  return folders.map((folder) => join(folder, name)).filter(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile(); // a folder is "executable" too
  } catch {
    return false;
  }
}
