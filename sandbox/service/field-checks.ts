import { isJsonObject, type Json, type JsonObject } from '../json.js';
import { ServiceError, type FieldError } from './service-error.js';

/**
 * The JSON object of a request body.
 * @throws {ServiceError} 7001 when it is not JSON, or not announced as JSON; 4500 when it is no object
 */
export function parseBody(body: string, contentType: string | undefined): JsonObject {
  if (contentType?.split(';')[0]?.trim().toLowerCase() !== 'application/json') {
    throw new ServiceError(7001, { message: 'Malformed request: Content-Type must be application/json' });
  }
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    throw new ServiceError(7001);
  }
  if (isJsonObject(parsed)) return parsed;
  throw new ServiceError(4500, { errors: [{ field: 'body', message: 'must be an object' }] });
}

/** Collects what is wrong with the fields of a body, so that one answer names all of it. */
export class FieldChecks {
  readonly #body: JsonObject;
  readonly #errors: FieldError[] = [];

  constructor(body: JsonObject) {
    this.#body = body;
  }

  fail(field: string, message: string): void {
    this.#errors.push({ field, message });
  }

  /** A required text; '' when it is missing or no text, which is then an error of the whole body. */
  text(field: string): string {
    const value = this.#body[field];
    if (typeof value === 'string' && value.trim() !== '') return value;
    this.fail(field, value === undefined ? 'is required' : 'must be a non-empty string');
    return '';
  }

  /** A required calendar day, YYYY-MM-DD. */
  date(field: string): string {
    const value = this.text(field);
    const parsed = /^\d{4}-\d{2}-\d{2}$/.test(value) ? new Date(`${value}T00:00:00Z`) : null;
    const exists = parsed !== null && !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(value);
    if (value !== '' && !exists) this.fail(field, 'must be a date, YYYY-MM-DD');
    return value;
  }

  /** An ISO 8601 date-time with Z or an offset, as milliseconds; null when absent and not required. */
  instantMs(field: string, required: boolean): number | null {
    const value = this.#body[field];
    if (value === undefined || value === null) {
      if (required) this.fail(field, 'is required');
      return null;
    }
    const parsed =
      typeof value === 'string' && /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})$/.test(value)
        ? Date.parse(value)
        : Number.NaN;
    if (!Number.isNaN(parsed)) return parsed;
    this.fail(field, 'must be an ISO 8601 date-time');
    return null;
  }

  value(field: string): Json | undefined {
    return this.#body[field];
  }

  /** @throws {ServiceError} 4500 with every field that failed */
  throwIfAny(): void {
    if (this.#errors.length > 0) throw new ServiceError(4500, { errors: this.#errors });
  }
}
