import { isScalar, Lexer, parseDocument, visit, type Scalar } from 'yaml';
import type { Config } from '../../config/config.js';
import { forms, secretsOf } from '../load-process-config.js';

/** Replaces a secret in the text of a configuration. */
const inPlaceOfSecret = '[secret]';

/**
 * Returns the text of a configuration's file as it may be kept and shown: references to variables and files stay. The
 * loader accepts no secret that is written in the file, but parts of one beside a reference; these are replaced, and what
 * looks like a secret elsewhere, also in comments. Pure.
 * @returns null if a secret cannot be replaced safely
 */
export function shownText(config: Config): string | null {
  const text = config.source.reveal();
  const secrets = [...secretsOf(config)].filter((secret) => secret !== '');
  const without = withoutSecrets(text, secrets);
  // What a block of several lines, an escape or a comment still shows.
  const rest = scalarsOf(without).map(({ value }) => String(value));
  const isLeft = secrets.some(
    (secret) => rest.includes(secret) || (secret.length >= longSecret && without.includes(secret)),
  );
  return isLeft ? null : without;
}

/** Whether a text lacks parts that `shownText` replaced. Pure. */
export function lacksSecrets(text: string): boolean {
  return text.includes(inPlaceOfSecret);
}

/** A secret of this length is not a word that stands elsewhere in the file by chance. */
const longSecret = 8;

function withoutSecrets(text: string, secrets: readonly string[]): string {
  let shown = withoutSecretsInComments(text);
  // The last first, so that the positions of the others stay.
  for (const scalar of scalarsOf(shown).toReversed()) {
    if (!isSecret(scalar, secrets)) continue;
    const [start, end] = scalar.range!;
    const lineEnd = shown.slice(start, end).endsWith('\n') ? '\n' : '';
    shown = `${shown.slice(0, start)}"${inPlaceOfSecret}"${lineEnd}${shown.slice(end)}`;
  }
  return secrets
    .filter((secret) => secret.length >= longSecret)
    .toSorted((a, b) => b.length - a.length)
    .reduce((left, secret) => left.replaceAll(secret, inPlaceOfSecret), shown);
}

/** Replaces what looks like a secret in comments, such as an earlier token. */
function withoutSecretsInComments(text: string): string {
  let before = '';
  let shown = '';
  for (const lexeme of new Lexer().lex(text)) {
    // The lexer marks the start of a document and of a value by a character of its own, which is not in the text.
    const isMark = /^[\x02\x18\x1f]$/.test(lexeme);
    const isComment = lexeme.startsWith('#') && before !== startOfValue;
    if (!isMark) shown += isComment ? commentWithoutSecrets(lexeme) : lexeme;
    before = lexeme;
  }
  return shown;
}

const startOfValue = '\x1f';

/** E-mail addresses, which the first form matches, are no secrets. */
function commentWithoutSecrets(comment: string): string {
  return forms.slice(1).reduce((left, [form]) => left.replaceAll(form, inPlaceOfSecret), comment);
}

/** Whether a value contains a secret, or a part of one beside a reference. */
function isSecret({ value }: Scalar, secrets: readonly string[]): boolean {
  const written = String(value);
  const literals = written.split(reference);
  if (literals.every((part) => part === '')) return false;
  if (typeof value === 'string' && looksSecret(written)) return true;
  return secrets.some((secret) => fits(secret, literals));
}

/** Whether a text consists of these parts in order, with anything in place of the references between them. */
function fits(text: string, parts: readonly string[]): boolean {
  const [first, ...rest] = parts as [string, ...string[]];
  const last = rest.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}

const reference = /(?<!\$)\$\{[^}]*\}/;

/** E-mail addresses, which the first form matches, are no secrets. */
function looksSecret(text: string): boolean {
  return forms.slice(1).some(([form]) => text.search(form) >= 0);
}

function scalarsOf(text: string): Scalar[] {
  const found: Scalar[] = [];
  visit(parseDocument(text, { prettyErrors: false }), {
    Scalar(key, node) {
      if (key !== 'key' && isScalar(node) && node.range != null) found.push(node);
    },
  });
  return found;
}
