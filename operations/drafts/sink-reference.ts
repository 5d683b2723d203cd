import { parseDocument } from 'yaml';

/** A reference to a secret: the name of an environment variable, or the absolute path of a file. */
interface NamedSecret {
  readonly reference: string;
  /** The part of its name that says to which kind of destination it belongs. */
  readonly name: string;
}

/**
 * Reads what a person entered for a secret: a name such as `SLACK_BOT_TOKEN`, `file:/run/secrets/slack_token`, or either as
 * a reference in `${…}`. Pure.
 * @returns undefined if it is neither: perhaps the secret itself, so no message repeats it
 */
function namedSecret(entered: string): NamedSecret | undefined {
  const bare = /^\$\{(.+)\}$/.exec(entered)?.[1] ?? entered;
  if (/^[A-Z][A-Z0-9_]{0,99}$/.test(bare)) return { reference: `\${${bare}}`, name: bare };
  const path = /^file:(\/[\w./-]{1,300})$/.exec(bare)?.[1];
  if (path === undefined || path.split('/').includes('..')) return undefined;
  return { reference: `\${file:${path}}`, name: path.split('/').at(-1)!.toUpperCase().replaceAll(/[-.]/g, '_') };
}

/**
 * Returns the reference of a secret that may be sent to a new destination, or a sentence. A person who uses the page could
 * otherwise name any secret of the process, and a destination of their own. Pure.
 * @param terms.prefix first part of the names that belong to this type of destination
 * @param terms.file the text of the present configuration file
 * @param terms.addresses the addresses of the destination by their keys; undefined: the vendor's own
 */
export function referenceTo(
  entered: string,
  {
    prefix,
    file,
    type,
    addresses,
  }: {
    readonly prefix: string;
    readonly file: string;
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
  const { reference, name } = found;
  if (!name.startsWith(prefix)) {
    return {
      problem: `the name must begin with ${prefix}, so that no secret of another destination is sent there: set a variable with such a name, or edit the file`,
    };
  }
  const users = sinksWith(file, reference);
  const isElsewhere = file.split(reference).length - 1 > users.length;
  const isSame = users.every(
    (sink) => sink['type'] === type && Object.entries(addresses).every(([key, address]) => sink[key] === address),
  );
  if (isElsewhere || !isSame) {
    return { problem: 'the file already uses this secret for another destination: set a variable of its own' };
  }
  return { reference };
}

/** Returns the sinks of a file that name a secret. */
function sinksWith(file: string, reference: string): Readonly<Record<string, unknown>>[] {
  const document = parseDocument(file, { prettyErrors: false });
  const sinks: unknown = document.errors.length > 0 ? null : (document.toJS() as { sinks?: unknown } | null)?.sinks;
  if (typeof sinks !== 'object' || sinks === null) return [];
  return (Object.values(sinks) as unknown[]).filter(
    (sink): sink is Readonly<Record<string, unknown>> =>
      typeof sink === 'object' && sink !== null && JSON.stringify(sink).includes(reference),
  );
}
