/** The major version inside PGlite 0.5.16, as PG_VERSION in its folder has it. Files of another one cannot be opened. */
export const embeddedPostgresVersion = '18';
