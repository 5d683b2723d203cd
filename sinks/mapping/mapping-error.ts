import type { Operation, Planned, Subject } from '../sink.js';

/**
 * Thrown if an expression has no usable value for one item. The message names places and types, never a value of the
 * item.
 */
export class MappingError extends Error {
  override readonly name = 'MappingError';

  /**
   * @param causeCode a short and stable code that groups dead letters with the same mistake, such as `mapping:
   * crm.records[0].properties.email: T0410`
   * @param message a sentence for the operator with the sink, the expression, the line, the item and the mistake
   */
  constructor(
    readonly causeCode: string,
    message: string,
  ) {
    super(message);
  }
}

/** A MappingError in parts, so that the caller can add the line and the item. */
export class FailedMapping extends MappingError {
  /**
   * @param key the expression's place, such as `crm.records[0].properties.email`
   * @param code a short and stable code; together with the key, it groups dead letters
   * @param what the rest of the sentence that starts with the key; it contains no value
   * @param where the text between the two: line and item
   */
  constructor(
    readonly key: string,
    readonly code: string,
    readonly what: string,
    where = '',
  ) {
    super(`mapping: ${key}: ${code}`, `${key}${where} ${what}`);
  }

  placed(where: string): FailedMapping {
    return new FailedMapping(this.key, this.code, this.what, where);
  }
}

/** Plans changes one after another. A change whose mapping fails becomes a dead letter. */
export async function planEach<Op extends Operation>(
  subjects: readonly Subject[],
  plan: (subject: Subject) => Promise<Planned<Op>>,
): Promise<Planned<Op>[]> {
  const planned: Planned<Op>[] = [];
  for (const subject of subjects) {
    try {
      planned.push(await plan(subject));
    } catch (error) {
      planned.push(unplannable(error));
    }
  }
  return planned;
}

/** Returns the plan of a change whose mapping failed. @throws any other error */
export function unplannable(error: unknown): Extract<Planned, { kind: 'unplannable' }> {
  if (!(error instanceof MappingError)) throw error;
  return { kind: 'unplannable', cause: error.causeCode, detail: error.message };
}

/**
 * Thrown if a mapping function cannot use an argument, or the result of an expression cannot be used. `code` becomes
 * part of the dead letter's cause; see docs/mapping.md.
 */
export class FunctionError extends Error {
  override readonly name = 'FunctionError';

  constructor(
    readonly code:
      | 'not-an-instant'
      | 'no-time-zone'
      | 'not-a-text'
      | 'not-a-length'
      | 'not-a-number'
      | 'not-a-field-name'
      | 'too-large'
      | 'too-long'
      | 'withheld',
  ) {
    super(code);
  }
}

/**
 * The meaning of each failure code, from JSONata or from pigeonpost. JSONata's messages are not used, because they may
 * quote a value of the item. Codes: JSONata 2.2, src/jsonata.js, "errorCodes".
 */
const words: Readonly<Record<string, string>> = {
  D1001: 'a number is too large',
  D1004: 'a regular expression matches an empty text',
  D1009: 'an object has two values with the same key',
  D1011: 'it is nested too deeply',
  D1012: 'it takes too long',
  D2014: 'a list is too long',
  D2015: 'a list is too long',
  D3030: 'a value is not a number',
  D3060: 'a root of a negative number',
  D3110: 'a value is not a time',
  D3137: 'the expression itself called $error',
  D3138: 'there is more than one match',
  D3139: 'there is no match',
  D3141: 'the expression itself called $assert',
  T0410: 'a function received a value of the wrong type',
  T0411: 'a function received a value of the wrong type',
  T0412: 'a function received a list with values of the wrong type',
  T1003: 'a key of an object is not a text',
  T1005: 'something that is not a function is called',
  T1006: 'something that is not a function is called',
  T2001: 'the left side of a calculation is not a number',
  T2002: 'the right side of a calculation is not a number',
  T2003: 'the start of a range is not a whole number',
  T2004: 'the end of a range is not a whole number',
  T2007: 'values of different types are sorted',
  T2008: 'values without an order are sorted',
  T2009: 'values of different types are compared',
  T2010: 'values without an order are compared',
  'no-time-zone': "the pigeonhole's time zone is not known",
  'not-a-field-name': 'the name of a field is not a text',
  'not-a-length': 'a length is not a whole number',
  'not-a-number': 'the result is not a number, for example after a division by zero',
  'not-a-text': 'a value is not a text',
  'not-an-instant': 'a value is not a time',
  'too-deep': 'it is nested too deeply',
  'too-large': 'the result is too large',
  'too-long': 'a text is too long',
  'too-many-steps': 'it takes too many steps',
  withheld: 'a function that cannot be used was called',
};

/** Returns the short and stable code of a failure. It may be shown, because it never contains a value. */
export function mappingFailureCode(error: unknown): string {
  if (error instanceof RangeError) return 'too-deep'; // the call stack is full, or a text is too long for memory
  const code = (error as { code?: unknown } | null)?.code;
  if (typeof code !== 'string') return 'error';
  return Object.hasOwn(words, code) || /^[A-Z]\d{4}$/.test(code) ? code : 'error';
}

/** Returns the code and its meaning as a part of a sentence. */
export function failureInWords(code: string): string {
  return words[code] === undefined ? code : `${code}, ${words[code]}`;
}
