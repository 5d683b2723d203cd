import { codeOf } from '../base/errors.js';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { generateKeyPairSync } from 'node:crypto';
import { isLoopback } from '../base/loopback.js';
import { Secret } from './secret.js';

/**
 * The environment variables of a process. Functions take them as a parameter, so that tests need no real environment.
 */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Returns this process's environment. Only this file reads it; every other folder receives values. */
export function processEnvironment(): Environment {
  return { ...process.env };
}

/**
 * Removes NODE_TLS_REJECT_UNAUTHORIZED=0, often set for another tool, from this process's environment. Our own
 * connections always verify certificates; this protects the connections of libraries.
 * @returns whether it was set
 */
export function dropWeakTls(): boolean {
  if (process.env['NODE_TLS_REJECT_UNAUTHORIZED'] !== '0') return false;
  delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
  return true;
}

/**
 * A text of pigeonpost.yaml after its references are resolved.
 * `absent`: a `${NAME:-}` was empty, and the key counts as absent.
 */
export type Filled =
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'reference'; readonly secret: Secret; readonly references: readonly string[] }
  | { readonly kind: 'absent' }
  | {
      readonly kind: 'problem';
      readonly message: string;
      readonly references: readonly string[];
      /** The text is valid, but this process lacks the variable or file. */
      readonly isUnresolved: boolean;
    };

export interface ReferenceSources {
  readonly environment: Environment;
  /** Relative `${file:…}` paths start here. */
  readonly folder: string;
  /** Whether the process is already running, so that it cannot see a variable that is set now. */
  readonly isRunning?: boolean | undefined;
}

/**
 * Resolves `${NAME}`, `${NAME:-default}` and `${file:/path}` in a text; `$${` is a literal `${`. As in a shell, the
 * default applies if the variable is unset or empty. The last line break of a file is removed.
 *
 * Everything from the environment or a file becomes a Secret, because only the key's schema knows whether it is one. A
 * default is part of this file and stays a literal, so a secret as a default is refused.
 */
export function fillReferences(text: string, sources: ReferenceSources): Filled {
  const references: string[] = [];
  const problems: { readonly problem: string; readonly isUnresolved?: boolean }[] = [];
  const filled = text.replace(/\$\$\{|\$\{([^}]*)(\}?)/g, (match: string, inner: string | undefined, end: string) => {
    if (inner === undefined) return '${';
    const found =
      end === ''
        ? { problem: '"${" is never closed; write ${NAME}, or $${ for a literal "${"' }
        : lookUp(inner, sources);
    if ('problem' in found) problems.push(found);
    else if (found.reference !== undefined) references.push(found.reference);
    return 'text' in found ? found.text : match;
  });
  const [problem] = problems;
  if (problem !== undefined) {
    return { kind: 'problem', message: problem.problem, references, isUnresolved: problem.isUnresolved === true };
  }
  if (filled === '' && text !== '') return { kind: 'absent' };
  return references.length === 0
    ? { kind: 'literal', text: filled }
    : { kind: 'reference', secret: new Secret(filled), references };
}

/** Whether a text contains a reference; `$${` is not one. */
export function hasReference(text: string): boolean {
  return text.replaceAll('$${', '').includes('${');
}

type Found =
  | { readonly text: string; readonly reference?: string }
  | { readonly problem: string; readonly isUnresolved?: boolean };

function lookUp(inner: string, sources: ReferenceSources): Found {
  if (inner.startsWith('file:')) return readReferenced(inner.slice('file:'.length), sources.folder);
  const match = /^([A-Za-z_][A-Za-z0-9_]*)(?::-([^$]*))?$/.exec(inner);
  // the message does not repeat the text, which may be the secret itself
  if (match === null)
    return {
      problem:
        'a reference is ${NAME}, ${NAME:-default} or ${file:/path}, and they do not nest; write $${ for a literal "${"',
    };
  const [, name = '', fallback] = match;
  const value = Object.hasOwn(sources.environment, name) ? (sources.environment[name] ?? '') : '';
  if (value !== '') return { text: value, reference: name };
  if (fallback !== undefined) return { text: fallback };
  const todo =
    sources.isRunning === true
      ? `restart pigeonpost with it, or write the value to a file and \${file:/path} here, which "config apply" reads again`
      : `set it, or write \${${name}:-} where it may be absent`;
  const where = sources.isRunning === true ? ' in the running process' : '';
  return { problem: `the environment variable ${name} is not set${where}; ${todo}`, isUnresolved: true };
}

/** Reads a referenced file. Synchronous, because it runs inside `replace` and reads only a few small files at the start. */
function readReferenced(path: string, folder: string): Found {
  if (path.trim() === '') return { problem: 'the path after "file:" is missing; write ${file:/run/secrets/name}' };
  try {
    const text = readFileSync(resolve(folder, path), 'utf8').replace(/\r?\n$/, '');
    if (text === '') return { problem: `the file ${path} is empty; write the secret into it`, isUnresolved: true };
    return { text, reference: `file:${path}` };
  } catch (error) {
    const code = codeOf(error);
    return { problem: `the file ${path} cannot be read (${code}); create it, or correct the path`, isUnresolved: true };
  }
}

/**
 * Replaces a secret in a configuration sent to the API. Its text has the same form as the secret but does not depend on
 * it. Only `compared` returns the secret itself, so that an unchanged secret is not reported as a change.
 */
export class StandIn extends Secret {
  readonly #value: string;
  readonly #isOfSameKey: boolean;

  /**
   * @param isOfSameKey whether the running configuration has a key with the same meaning here, so that `revealPlain`
   * may return the real text
   */
  constructor(value: string, { isOfSameKey }: { readonly isOfSameKey: boolean }) {
    super(textOfSameForm(value));
    this.#value = value;
    this.#isOfSameKey = isOfSameKey;
  }

  override compared(): string {
    return this.#value;
  }

  override revealPlain(): string {
    return this.#isOfSameKey ? this.#value : this.reveal();
  }
}

const plainStandIn = 'stand-in.0123456789-abcdefghijklmnopqrstuvwxyz';

/** Returns a text in the form that schemas of secrets check: a signing secret, a private key, a URL or any other. */
function textOfSameForm(value: string): string {
  if (value.startsWith('whsec_')) return `whsec_${Buffer.alloc(32).toString('base64')}`;
  if (value.includes('PRIVATE KEY-----')) return privateKey();
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(value) || !URL.canParse(value)) return plainStandIn;
  const { protocol, username, hostname, pathname } = new URL(value);
  const user = username === '' ? '' : 'stand-in:stand-in@';
  const host = isLoopback(hostname) ? '127.0.0.1' : 'stand-in.invalid';
  return `${protocol}//${user}${host}${pathname.length > 1 ? '/stand-in' : ''}`;
}

let madeKey: string | undefined;

/** Created once per process, because it takes 100 ms. */
function privateKey(): string {
  madeKey ??= generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({
    type: 'pkcs8',
    format: 'pem',
  }) as string;
  return madeKey;
}
