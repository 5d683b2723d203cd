import { createHash } from 'node:crypto';
import type { Change } from '../change.js';
import type { StatementKind } from './kinds.js';

/** Random, fixed for ever: another one would make every statement that was ever sent another statement. */
const namespace = Buffer.from('5c1f0d4be0a94d0fa3c67d3f1b9e2a78', 'hex');

/**
 * The id of what a revision of an item says: the same however often it is sent, so that the LRS keeps it once.
 * @param issue 0; more for what is issued anew for the same revision, since a voided id can say nothing more
 */
export function statementId(
  kind: StatementKind | `credit:${number}`,
  { workspace, pigeonholeId, list, key, revision }: Change,
  issue: number,
): string {
  const name = [kind, workspace, pigeonholeId, list, key, revision, ...(issue === 0 ? [] : [issue])];
  return uuidV5(JSON.stringify(name));
}

/** The id of the one statement that voids another. */
export function voidingId(statement: string): string {
  return uuidV5(JSON.stringify(['voided', statement]));
}

/** RFC 9562, 5.5. */
function uuidV5(name: string): string {
  const digest = createHash('sha1').update(namespace).update(name).digest('hex');
  const variant = ((parseInt(digest[16]!, 16) & 0x3) | 0x8).toString(16);
  const hex = `${digest.slice(0, 12)}5${digest.slice(13, 16)}${variant}${digest.slice(17, 32)}`;
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
