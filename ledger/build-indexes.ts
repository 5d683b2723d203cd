import type { Session } from './drivers/database.js';

/** The head of a migration that builds indexes while other processes write to the table, with its reason. */
const declared = /^-- Outside a transaction: \S/m;

const allowed = [
  /^create (?:unique )?index concurrently if not exists (?<built>\w+) on \w+\b/,
  /^drop index concurrently if exists \w+$/,
];

/** Whether a migration runs statement by statement, each committed alone, and records its number at the end. */
export function isOutsideTransaction(sql: string): boolean {
  return declared.test(sql);
}

/**
 * Builds and drops indexes one by one, without keeping writers out. A build that was cut off leaves an index that is
 * maintained and never used: it is dropped and built again. One that is complete is left as it is, so a second run is
 * safe from any point. The name decides: an index that changes gets a new name.
 * @throws {Error} for a file that holds anything else, which a crash could leave half done
 */
export async function buildIndexes(session: Session, name: string, sql: string): Promise<void> {
  for (const statement of statementsOf(name, sql)) {
    const { built } = statement.match ?? {};
    // oxlint-disable no-await-in-loop -- in their order
    if (built !== undefined && (await isInvalid(session, built))) {
      await session.script(`drop index concurrently if exists ${built}`);
    }
    await session.script(statement.text);
    // oxlint-enable no-await-in-loop
  }
}

async function isInvalid(session: Session, index: string): Promise<boolean> {
  const rows = await session.query(
    'select 1 from pg_index where indexrelid = to_regclass($1::text) and not indisvalid',
    [index],
  );
  return rows.length > 0;
}

function statementsOf(
  name: string,
  sql: string,
): { readonly text: string; readonly match: { [group: string]: string | undefined } | undefined }[] {
  const texts = sql
    .replaceAll(/--.*$/gm, ' ')
    .replaceAll(/\s+/g, ' ')
    .split(';')
    .map((text) => text.trim())
    .filter((text) => text !== '');
  return texts.map((text) => {
    const match = allowed.map((form) => form.exec(text)).find((found) => found !== null);
    if (match !== undefined && match !== null) return { text, match: match.groups };
    throw new Error(
      `${name} runs outside a transaction, where only "create index concurrently if not exists" and "drop index concurrently if exists" can be repeated; it also has: ${text.slice(0, 80)}`,
    );
  });
}
