import { closeSync, fsyncSync, openSync } from 'node:fs';

/** Makes the names in a folder survive a power cut: what was created in it, renamed into it or deleted from it. */
export function syncFolder(path: string): void {
  const fd = openSync(path, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
