/** Roles of a token. A token with several roles has the rights of all of them. */
export const roles = ['viewer', 'importer', 'operator', 'privacy', 'admin'] as const;
export type Role = (typeof roles)[number];

/**
 * What a route asks for (decision 0046).
 * - `read`: how work stands, without anybody's name, address or words
 * - `import`: registrants, whose file the importer holds anyway
 * - `operate`: pause, resume, redrive, replay, decide about deletions
 * - `personal`: what people are called and have written, when it is asked for
 * - `erase`: have a person forgotten everywhere
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

/** Every right of these roles. A role that this version does not know gives none. */
export function rightsOf(given: readonly string[]): ReadonlySet<Right> {
  return new Set(roles.filter((role) => given.includes(role)).flatMap((role) => rightsOfRole[role]));
}

/** The roles that have a right, for the sentence that says what is missing. */
export function rolesWith(right: Right): Role[] {
  return roles.filter((role) => rightsOfRole[role].includes(right));
}
