import { canonicalJson } from '../../ledger/canonical-json.js';
import type { PublicKey, SigningKey } from '../../base/ed25519.js';
import { type SignedStatement, type Statement, statementFormat } from './statement.js';

/*
 * The signature of a statement covers the statement in the canonical form of RFC 8785, so spaces and the order of
 * members do not matter, and everything that has a meaning does. A page (HTML) is signed as it is, byte by byte. Each
 * form has a first line of its own, so that the signature of one is never valid for the other.
 */

const statementHead = `${statementFormat}\n`;
const pageHead = 'pigeonpost statement page 1\n';

export function signStatement(statement: Statement, key: SigningKey): SignedStatement {
  return {
    statement,
    signature: {
      algorithm: 'ed25519',
      key: key.publicKey.fingerprint,
      value: key.sign(statementHead + canonicalJson(statement)),
    },
  };
}

/** Returns a signed statement as the text of a file. */
export function statementFile(signed: SignedStatement): string {
  return `${JSON.stringify(signed, null, 2)}\n`;
}

const pageSignature = /\n<!-- pigeonpost signature ([A-Za-z0-9_-]+) -->\n$/;

/** Adds the signature of a page as its last line. */
export function signPage(html: string, key: SigningKey): string {
  return `${html}\n<!-- pigeonpost signature ${key.sign(pageHead + html)} -->\n`;
}

/** The result of a check of a file. `unreadable`: it is no statement of pigeonpost. */
export type Verification =
  | { readonly result: 'valid'; readonly form: 'json'; readonly statement: Statement }
  | { readonly result: 'valid'; readonly form: 'html'; readonly statement: null }
  | { readonly result: 'altered' | 'unreadable'; readonly why: string };

/**
 * Checks the signature of a statement in a file, JSON or HTML. Pure.
 *
 * A JSON file may be formatted differently, but has to say the same to every reader: a member that appears twice, of
 * which programs read one and people another, counts as altered.
 */
export function verifyFile(text: string, key: PublicKey): Verification {
  const page = pageSignature.exec(text);
  if (page !== null) {
    const html = text.slice(0, page.index);
    return key.verifies(pageHead + html, page[1]!)
      ? { result: 'valid', form: 'html', statement: null }
      : { result: 'altered', why: 'the page is not what was signed with this key' };
  }
  if (/^\s*<!doctype html/i.test(text)) return { result: 'altered', why: 'the page does not end with its signature' };
  let signed: Partial<SignedStatement> | null;
  try {
    signed = JSON.parse(text) as Partial<SignedStatement> | null;
  } catch {
    return { result: 'unreadable', why: 'it is neither a statement in JSON nor in HTML' };
  }
  const { statement, signature } = signed ?? {};
  if (typeof statement !== 'object' || statement === null || typeof signature?.value !== 'string') {
    return { result: 'unreadable', why: 'it has no "statement" with a "signature"' };
  }
  if (statement.format !== statementFormat) {
    return { result: 'unreadable', why: 'it is a statement of another version of pigeonpost' };
  }
  const members = [...Object.keys(signed!), ...Object.keys(signature)].toSorted().join(' ');
  if (members !== 'algorithm key signature statement value' || signature.algorithm !== 'ed25519') {
    return { result: 'altered', why: 'it has parts that are not signed' };
  }
  if (signature.key !== key.fingerprint) {
    return { result: 'altered', why: `it says that it was signed with another key (${signature.key})` };
  }
  if (withoutSpace(text) !== JSON.stringify(signed)) {
    return { result: 'altered', why: 'a part of the file appears twice, or is written in an unusual way' };
  }
  return key.verifies(statementHead + canonicalJson(statement), signature.value)
    ? { result: 'valid', form: 'json', statement }
    : { result: 'altered', why: 'the statement is not what was signed with this key' };
}

/** Removes the white space between the tokens of a JSON text. */
function withoutSpace(json: string): string {
  return json.replaceAll(/("(?:[^"\\]|\\.)*")|\s+/g, (_, text: string | undefined) => text ?? '');
}
