/** One entry of `errors` in a refusal: HubSpot names the property in `context.propertyName`. */
export interface RefusalDetail {
  readonly message: string;
  readonly code?: string;
  readonly in?: string;
  readonly context?: Readonly<Record<string, readonly string[]>>;
}

/** A refusal by HubSpot, before it becomes the answer or one record's entry in a batch's `errors`. */
export class HubSpotRefusal extends Error {
  override readonly name = 'HubSpotRefusal';

  constructor(
    readonly status: number,
    readonly category: string,
    message: string,
    readonly details: readonly RefusalDetail[] = [],
    readonly context?: Readonly<Record<string, readonly string[]>>,
  ) {
    super(message);
  }

  /** As the body of an answer. Documented: every field is optional to a reader, "Error handling". */
  body(correlationId: string): Record<string, unknown> {
    return {
      status: 'error',
      message: this.message,
      correlationId,
      ...(this.context !== undefined && { context: this.context }),
      ...(this.details.length > 0 && { errors: this.details }),
      ...(this.category === 'MISSING_SCOPES' && { links: { scopes: 'https://developers.hubspot.com/scopes' } }),
      category: this.category,
    };
  }

  /** As an entry of a batch's `errors`, naming the input that it is about. */
  entry(about: Readonly<Record<string, readonly string[]>>): Record<string, unknown> {
    return {
      status: 'error',
      category: this.category,
      message: this.message,
      context: { ...this.context, ...about },
      ...(this.details.length > 0 && { errors: this.details }),
    };
  }
}

/** A 400 of the category that HubSpot uses for whatever is wrong with the input. */
export function invalidInput(message: string, context?: Readonly<Record<string, readonly string[]>>): HubSpotRefusal {
  return new HubSpotRefusal(400, 'VALIDATION_ERROR', message, [], context);
}

export function notFound(message = 'resource not found'): HubSpotRefusal {
  return new HubSpotRefusal(404, 'OBJECT_NOT_FOUND', message);
}
