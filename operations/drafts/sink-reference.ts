import { realpathSync } from 'node:fs';
import { dirname, relative, resolve, sep } from 'node:path';
import { parseDocument } from 'yaml';

/** A reference to a secret: the name of an environment variable, or the absolute path of a file. */
interface NamedSecret {
  readonly reference: string;
  /** The same for every way to write a reference to the secret. */
  readonly identity: string;
  /** Absolute path of its file; null: a variable. */
  readonly path: string | null;
  /** The part of its name that says to which kind of destination it belongs. */
  readonly name: string;
}

/**
 * Reads what a person entered for a secret: a name such as `SLACK_BOT_TOKEN`, `file:/run/secrets/slack_token`, or either as
 * a reference in `${…}`.
 * @returns undefined if it is neither: perhaps the secret itself, so no message repeats it
 */
function namedSecret(entered: string): NamedSecret | undefined {
  const bare = /^\$\{(.+)\}$/.exec(entered)?.[1] ?? entered;
  if (/^[A-Z][A-Z0-9_]{0,99}$/.test(bare)) return { reference: `\${${bare}}`, identity: bare, path: null, name: bare };
  const path = /^file:(\/[\w./-]{1,300})$/.exec(bare)?.[1];
  if (path === undefined || path.split('/').includes('..')) return undefined;
  const name = path.split('/').at(-1)!.toUpperCase().replaceAll(/[-.]/g, '_');
  return { reference: `\${file:${path}}`, identity: identityOf(`file:${path}`, '/'), path, name };
}

/**
 * Returns what identifies the secret of a reference: the name of its variable, without a default, or the real path of its
 * file, because a path can be written in several ways and can contain links.
 * @param inner the text between `${` and `}`
 * @param folder relative paths start here
 */
function identityOf(inner: string, folder: string): string {
  if (!inner.startsWith('file:')) return inner.split(':-')[0]!;
  const path = resolve(folder, inner.slice('file:'.length));
  try {
    return `file:${realpathSync(path)}`;
  } catch {
    return `file:${path}`;
  }
}

/**
 * Returns the reference of a secret that may be sent to a new destination, or a sentence. A person who uses the page could
 * otherwise name any secret of the process, and a destination of their own.
 * @param terms.prefix first part of the names that belong to this type of destination
 * @param terms.file the text of the present configuration file
 * @param terms.folder the folder of this file
 * @param terms.addresses the addresses of the destination by their keys; undefined: the vendor's own
 */
export function referenceTo(
  entered: string,
  {
    prefix,
    file,
    folder,
    type,
    addresses,
  }: {
    readonly prefix: string;
    readonly file: string;
    readonly folder: string;
    readonly type: string;
    readonly addresses: Readonly<Record<string, string | undefined>>;
  },
): { readonly reference: string } | { readonly problem: string } {
  const found = namedSecret(entered.trim());
  if (found === undefined) {
    return {
      problem: `enter the name of an environment variable such as ${prefix}SECRET, or file: and the path of a file, and never the secret itself`,
    };
  }
  const { reference, identity, path, name } = found;
  if (!name.startsWith(prefix)) {
    return {
      problem: `the name must begin with ${prefix}, so that no secret of another destination is sent there: set a variable with such a name, or edit the file`,
    };
  }
  if (path !== null && !foldersOfSecrets(file, folder).some((each) => isBelow(path, each))) {
    return {
      problem:
        'the file must be below /run/secrets, below the folder of pigeonpost.yaml, or beside a file that it already names, so that no other file of the machine is sent',
    };
  }
  const uses = (text: string): number =>
    referencesIn(text).filter((each) => identityOf(each, folder) === identity).length;
  const content = contentOf(file);
  const users = sinksOf(content).filter((sink) => uses(JSON.stringify(sink)) > 0);
  // Comments count, too: what they mention may become a value again.
  const isElsewhere = Math.max(uses(file), uses(JSON.stringify(content))) > uses(JSON.stringify(users));
  const isSame = users.every(
    (sink) => sink['type'] === type && Object.entries(addresses).every(([key, address]) => sink[key] === address),
  );
  if (isElsewhere || !isSame) {
    return { problem: 'the file already uses this secret for another destination: set a variable of its own' };
  }
  return { reference };
}

/** Returns the folders in which the operator of the machine keeps secrets for pigeonpost. */
function foldersOfSecrets(file: string, folder: string): string[] {
  const named = referencesIn(file).filter((inner) => inner.startsWith('file:'));
  const beside = named.map((inner) => dirname(resolve(folder, inner.slice('file:'.length))));
  return ['/run/secrets', '/var/run/secrets', folder, ...beside].filter((each) => each !== '/');
}

function isBelow(path: string, folder: string): boolean {
  const steps = relative(folder, path);
  return steps !== '' && steps.split(sep)[0] !== '..';
}

/** Returns the texts between `${` and `}`. */
function referencesIn(text: string): string[] {
  return [...text.matchAll(/\$\{([^}]*)\}/g)].map(([, inner]) => inner!);
}

/** Returns the values of a file; null if it is not valid YAML. */
function contentOf(file: string): { readonly sinks?: unknown } | null {
  const document = parseDocument(file, { prettyErrors: false });
  return document.errors.length > 0 ? null : (document.toJS() as { sinks?: unknown } | null);
}

function sinksOf(content: { readonly sinks?: unknown } | null): Readonly<Record<string, unknown>>[] {
  const sinks = content?.sinks;
  if (typeof sinks !== 'object' || sinks === null) return [];
  return (Object.values(sinks) as unknown[]).filter(
    (sink): sink is Readonly<Record<string, unknown>> => typeof sink === 'object' && sink !== null,
  );
}
