/** An error as Salesforce says it, of a request or of a record. */
export interface SaidError {
  /** Empty: none that can be read. */
  readonly code: string;
  /** API names of fields. */
  readonly fields: readonly string[];
  /** May quote values: to tell errors apart that share a code, and never to be shown. */
  readonly message: string;
}

/** The errors in an answer's body, or in a record's `errors`; what is none of the known forms gives none. */
export function saidErrors(found: unknown): SaidError[] {
  if (!Array.isArray(found)) return [];
  return found.map((each: unknown) => {
    const { errorCode, statusCode, fields, message } = (each ?? {}) as Record<string, unknown>;
    const code = errorCode ?? statusCode;
    return {
      // Only what has the form of a code or of a name is shown: anything else could be a value.
      code: typeof code === 'string' && /^[A-Z][A-Z0-9_]{2,80}$/.test(code) ? code : '',
      fields: Array.isArray(fields)
        ? fields.filter((field): field is string => typeof field === 'string' && /^[A-Za-z][\w.]{0,80}$/.test(field))
        : [],
      message: typeof message === 'string' ? message : '',
    };
  });
}
