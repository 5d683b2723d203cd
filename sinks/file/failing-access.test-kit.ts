import type { FileHandle } from 'node:fs/promises';
import { nodeFileAccess, type FileAccess } from './file-access.js';

/** The calls on an open file that a test can let fail. */
type FallibleCall = 'write' | 'sync' | 'truncate';

export interface Fault {
  readonly call: FallibleCall;
  readonly code: string;
  /** Number of calls of this kind that succeed before. */
  readonly after?: number;
  /** Number of bytes that a failing write stores before it fails. */
  readonly partialBytes?: number;
  /** Affects only files whose path contains this. */
  readonly path?: string;
}

/** Returns the real file system with the given faults. Folders are synced as usual. */
export function failingAccess(): { access: FileAccess; faults: Fault[] } {
  const faults: Fault[] = [];
  const callsBefore = new Map<Fault, number>();

  const faultFor = (call: FallibleCall, path: string): Fault | undefined => {
    for (const fault of faults) {
      if (fault.call !== call || !path.includes(fault.path ?? '.ndjson')) continue;
      const before = callsBefore.get(fault) ?? 0;
      callsBefore.set(fault, before + 1);
      if (before >= (fault.after ?? 0)) return fault;
    }
    return undefined;
  };

  const open = async (path: string, ...rest: [flags?: number, mode?: number]): Promise<FileHandle> => {
    const handle = await nodeFileAccess.open(path, ...rest);
    return new Proxy(handle, {
      get(target, name: keyof FileHandle & string) {
        const method: unknown = Reflect.get(target, name);
        if (typeof method !== 'function') return method;
        return async (...args: unknown[]): Promise<unknown> => {
          const fault = name === 'write' || name === 'sync' || name === 'truncate' ? faultFor(name, path) : undefined;
          if (fault === undefined) return Reflect.apply(method, target, args);
          if (name === 'write') {
            const [bytes, offset, , position] = args as [Buffer, number, number, number];
            await target.write(bytes, offset, fault.partialBytes ?? 0, position);
          }
          const syscall = { write: 'write', sync: 'fsync', truncate: 'ftruncate' }[fault.call];
          throw Object.assign(new Error(`${fault.code}: made by a test`), { code: fault.code, syscall });
        };
      },
    });
  };
  return { access: { ...nodeFileAccess, open: open as FileAccess['open'] }, faults };
}
