import type { z } from 'zod';

/** What a schema found, without zod's nesting. */
export interface FlatIssue {
  readonly path: readonly (string | number)[];
  readonly message: string;
  /** Keys at `path` that the schema does not know. */
  readonly unknownKeys?: readonly string[];
}

type Issue = z.core.$ZodIssue;

/**
 * One issue as those that a person can act on. Where several shapes were possible, it is about the shape that was
 * probably meant: the one that the value is of, however wrong inside.
 */
export function flattenIssue(issue: Issue, parent: readonly PropertyKey[] = []): FlatIssue[] {
  const path = [...parent, ...issue.path].map((step) => (typeof step === 'number' ? step : String(step)));
  if (issue.code === 'unrecognized_keys') {
    return [{ path, message: '', unknownKeys: issue.keys }];
  }
  if (issue.code === 'invalid_union' && issue.errors.length > 0) {
    const meant = issue.errors
      .filter((issues) => !issues.some(isAboutWhole))
      .sort((one, other) => one.length - other.length)
      .at(0);
    if (meant !== undefined) return meant.flatMap((inner) => flattenIssue(inner, path));
  }
  return [{ path, message: issue.message }];
}

const isAboutWhole = (issue: Issue) => issue.path.length === 0 && issue.code !== 'unrecognized_keys';

/** The message of an issue whose schema brings none of its own: `allowed: …`, which the loader completes with what was found. */
export function allowedOf(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return `allowed: ${typeNames[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `allowed: ${issue.values.length === 1 ? '' : 'one of '}${issue.values.map(String).join(', ')}`;
    case 'too_small':
      return `allowed: at least ${String(issue.minimum)}${sizeNames[issue.origin] ?? ''}`;
    case 'too_big':
      return `allowed: at most ${String(issue.maximum)}${sizeNames[issue.origin] ?? ''}`;
    case 'invalid_format':
      return `allowed: ${issue.format === 'regex' ? `a text like ${issue.pattern ?? ''}` : `a text of the form "${issue.format}"`}`;
    case 'invalid_key':
      return `this is no name here, ${issue.issues[0]?.message ?? ''}`;
    case 'invalid_union':
      return unionMessage(issue);
    default:
      return undefined;
  }
}

function unionMessage(issue: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidUnion>): string | undefined {
  const options: unknown = issue.options; // of a discriminator, where no shape could be tried
  if (Array.isArray(options)) return `allowed: one of ${options.map(String).join(', ')}`;
  const messages = issue.errors
    .flat()
    .filter(isAboutWhole)
    .map(({ message }) => message);
  // a sentence of its own (a secret as a literal) says more than a list of shapes
  const sentence = messages.find((message) => !message.startsWith('allowed: '));
  return (
    sentence ?? `allowed: ${[...new Set(messages)].map((message) => message.slice('allowed: '.length)).join(' or ')}`
  );
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a group of keys',
  record: 'a group of keys',
};

const sizeNames: Readonly<Record<string, string>> = { string: ' characters', array: ' entries', set: ' entries' };
