/** A refusal by Salesforce: of the whole request, or one record of a collection. */
export class SalesforceRefusal extends Error {
  override readonly name = 'SalesforceRefusal';

  constructor(
    readonly code: string,
    message: string,
    readonly fields: readonly string[] = [],
    /** Status of the response, if the whole request is refused. */
    readonly status = 400,
  ) {
    super(message);
  }

  /** As the body of an answer: a list of one. */
  body(): unknown[] {
    return [{ message: this.message, errorCode: this.code, ...(this.fields.length > 0 && { fields: this.fields }) }];
  }

  /** As the result of one record of a collection. */
  result(): Record<string, unknown> {
    return { success: false, errors: [{ statusCode: this.code, message: this.message, fields: this.fields }] };
  }
}

export function notFound(message = 'The requested resource does not exist'): SalesforceRefusal {
  return new SalesforceRefusal('NOT_FOUND', message, [], 404);
}
