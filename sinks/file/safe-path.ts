const SLUG = '[A-Za-z0-9][A-Za-z0-9_-]{0,99}';
const SAFE_PATH = new RegExp(`^${SLUG}/\\d{1,16}/${SLUG}/\\d{4}-\\d{2}-\\d{2}\\.ndjson$`);

/**
 * Whether a path has the form `<workspace>/<pigeonholeId>/<list>/<YYYY-MM-DD>.ndjson`, of names that cannot leave the
 * folder. Workspace and list names are checked long before; this is the last place where a mistake there can be
 * stopped.
 */
export function isSafePath(path: string): boolean {
  return SAFE_PATH.test(path);
}
