/*
 * Descriptions of what a person enters to connect a destination. Each sink type declares its form as data in its folder
 * (`connect.ts`). The page asks for the fields, and writes the lines into a draft of pigeonpost.yaml. This file and the
 * declarations import nothing else, because commands load them before they know whether they need them.
 */

/** The form with which people connect a destination of a type. */
export interface ConnectForm {
  /** The destination as people call it, such as `Slack`. */
  readonly title: string;
  /** The result at the destination, such as `messages of the approved questions`. */
  readonly makes: string;
  /** The suggested name of the sink. */
  readonly name: string;
  readonly fields: readonly ConnectField[];
  /**
   * First part of the names of variables and files that may hold its secrets, such as `SLACK_`: the page never sends
   * another secret of the process to a destination. Null: it has no secret.
   */
  readonly secrets: string | null;
  /** Lists whose fields the proposed mapping uses. */
  readonly reads: readonly string[];
  /**
   * Returns the lines of the sink in pigeonpost.yaml, the first with its type, with a proposed mapping. Pure.
   * @param given answers by the key of their field; a secret as its reference. Without those that were left empty
   * @param seen names of the fields that stored items have, by list
   */
  lines(given: Answers, seen: SeenNames): string[];
}

export type Answers = Readonly<Record<string, string | undefined>>;
export type SeenNames = Readonly<Record<string, readonly string[] | undefined>>;

/**
 * - `secret`: the name of an environment variable, or the path of a file, that holds it
 * - `address`: an https address
 * - `folder`: a folder below the one of pigeonpost.yaml
 * - `choice`: one of the values that the destination offers (`Sink.choices`); `choices`: any number of them, separated by commas
 */
export type FieldKind = 'text' | 'address' | 'secret' | 'folder' | 'choice' | 'choices';

export interface ConnectField {
  readonly key: string;
  readonly label: string;
  readonly kind: FieldKind;
  /** Says what it is and where to find it. */
  readonly hint: string;
  readonly suggested?: string;
  readonly optional?: true;
  /** A value of the right form, with which pigeonpost asks the destination for choices before there is an answer. */
  readonly standIn: string;
}

/** Values that a destination offers for a field. */
export type Choices =
  | { readonly kind: 'offered'; readonly items: readonly OfferedChoice[]; readonly more: boolean }
  /** It does not show them; a sentence says why, and what to do. */
  | { readonly kind: 'refused'; readonly detail: string };

export interface OfferedChoice {
  readonly value: string;
  readonly label: string;
  /** Says more about it, such as `private`. */
  readonly note?: string;
}

/** Quotes a text for YAML. Every JSON string is valid YAML. */
export function quoted(text: string): string {
  return JSON.stringify(text);
}

/** Returns the expression for a field of an item: the seen field with one of these names, or else the first name. Pure. */
export function fieldOf(seen: readonly string[] | undefined, names: readonly string[]): string {
  return seenField(seen, names) ?? written(names[0]!);
}

/** Returns the expression for the seen field with one of these names, without regard to case and signs; undefined if there is none. Pure. */
export function seenField(seen: readonly string[] | undefined, names: readonly string[]): string | undefined {
  for (const name of names) {
    const found = seen?.find((each) => plain(each) === plain(name));
    if (found !== undefined) return written(found);
  }
  return undefined;
}

/** Returns the lines of properties that people often ask for and that stored attendees have, each with its expression. Pure. */
export function seenProperties(
  seen: readonly string[] | undefined,
  wanted: readonly (readonly [property: string, names: readonly string[]])[],
): string[] {
  return wanted.flatMap(([property, names]) => {
    const found = seenField(seen, names);
    return found === undefined ? [] : [`${property}: ${inYaml(`item.${found}`)}`];
  });
}

/** Writes an expression as a YAML value. Backquotes cannot begin a plain value, but may be within one. */
export function inYaml(expression: string): string {
  return /^[\w$(][^#:{}[\],&*!|>%@"']*$/.test(expression) ? expression : `'${expression.replaceAll("'", "''")}'`;
}

export const emailNames = ['Email', 'E-mail', 'Mail', 'E-mail address', 'Email address'];
export const companyNames = ['Company', 'Organisation', 'Organization', 'Firm', 'Employer'];
export const titleNames = ['Job title', 'Title', 'Position', 'Role'];
export const phoneNames = ['Phone', 'Phone number', 'Mobile', 'Telephone'];

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[\s_-]/g, '');
}

function written(name: string): string {
  return /^[\p{L}_][\p{L}\p{N}_]*$/u.test(name) ? name : `\`${name.replaceAll('`', '')}\``;
}
