/** Roles of a token. A token with several roles has the rights of all of them. */
export const roles = ['viewer', 'importer', 'operator', 'privacy', 'admin'] as const;
export type Role = (typeof roles)[number];

/**
 * Rights that routes require (decision 0046).
 * - `read`: the state of all work, without names, addresses or texts of people
 * - `import`: registrants, whose file the importer holds anyway
 * - `operate`: pause, resume, redrive, replay, decide about deletions
 * - `personal`: names and texts of people, on request
 * - `erase`: forget a person everywhere
 * - `administer`: the configuration, tokens, the audit log
 */
export type Right = 'read' | 'import' | 'operate' | 'personal' | 'erase' | 'administer';

const rightsOfRole: Readonly<Record<Role, readonly Right[]>> = {
  viewer: ['read'],
  importer: ['read', 'import'],
  operator: ['read', 'operate'],
  privacy: ['read', 'personal', 'erase'],
  admin: ['read', 'import', 'operate', 'personal', 'erase', 'administer'],
};

/** Returns all rights of these roles. A role that this version does not know has none. */
export function rightsOf(given: readonly string[]): ReadonlySet<Right> {
  return new Set(roles.filter((role) => given.includes(role)).flatMap((role) => rightsOfRole[role]));
}

/** Returns the roles with a right, for the sentence about a missing right. */
export function rolesWith(right: Right): Role[] {
  return roles.filter((role) => rightsOfRole[role].includes(right));
}
