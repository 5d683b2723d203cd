import { userInfo } from 'node:os';

/** Who runs this command, as status tells others; undefined where the system has no name for them. */
export function askedBy(): string | undefined {
  try {
    return userInfo().username || undefined;
  } catch {
    return undefined; // an id without an entry, as in many containers
  }
}
