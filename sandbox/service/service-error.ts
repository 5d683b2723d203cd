import type { JsonObject } from '../json.js';

/** One entry of a validation error: the invalid field and the reason. */
export interface FieldError {
  field: string;
  message: string;
}

/** The documented codes with their message and their HTTP status. */
const CODES: Record<number, { status: number; message: string }> = {
  // An unofficial SDK handles the statuses 401, 404, 422, 429, 500 and 503. The statuses of 4507, 4508 and 6000 to 9000
  // are unknown, so the values here are assumptions.
  5000: { status: 500, message: 'Internal server error' },
  6000: { status: 400, message: 'Invalid parameter value' },
  7001: { status: 400, message: 'Malformed request' },
  8000: { status: 429, message: 'Request exceeded limit' },
  9000: { status: 405, message: 'Unsupported feature' },
  4500: { status: 422, message: 'Invalid format or value' },
  4501: { status: 401, message: 'Authentication failed' },
  4502: { status: 404, message: 'Not found' },
  4503: { status: 404, message: 'Workspace not found' },
  4504: { status: 404, message: 'Pigeonhole not found' },
  4505: { status: 404, message: 'Subscription not found' },
  4506: { status: 404, message: 'Profile field not found' },
  4507: { status: 422, message: 'Registrants not available' },
  4508: { status: 422, message: 'Attendee profiles not available' },
  4509: { status: 404, message: 'Session not found' },
  4510: { status: 404, message: 'Registrant not found' },
  4511: { status: 404, message: 'One-time token not found' },
  4512: { status: 404, message: 'Speaker not found' },
};

/** An error answer, identified by the code in its body. */
export class ServiceError extends Error {
  readonly code: number;
  /** The usual HTTP status of the code. */
  readonly status: number;
  /** Only in validation errors. */
  readonly errors: readonly FieldError[] | undefined;

  constructor(code: number, options: { message?: string; errors?: readonly FieldError[] } = {}) {
    super(options.message ?? CODES[code]?.message ?? 'Unknown error');
    this.name = 'ServiceError';
    this.code = code;
    this.status = CODES[code]?.status ?? 500;
    this.errors = options.errors;
  }

  body(): JsonObject {
    const body: JsonObject = { code: this.code, message: this.message };
    if (this.errors !== undefined) body['errors'] = this.errors.map(({ field, message }) => ({ field, message }));
    return body;
  }
}
