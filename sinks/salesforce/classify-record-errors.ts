import type { Result } from '../sink.js';
import { passingCodes } from './passing-codes.js';
import type { SaidError } from './said-errors.js';

/** The record with this id is no more: it was deleted, merged into another, or is none that the user may see. */
const gone: ReadonlySet<string> = new Set([
  'ENTITY_IS_DELETED',
  'NOT_FOUND',
  'INVALID_CROSS_REFERENCE_KEY',
  'MALFORMED_ID',
]);

export type RecordFailure =
  | { readonly kind: 'gone' }
  /** It was a lead and has become a contact. */
  | { readonly kind: 'converted' }
  /** Another record or membership stands in its place already. */
  | { readonly kind: 'duplicate'; readonly result: Result }
  | { readonly kind: 'other'; readonly result: Result };

const advice: Readonly<Record<string, string>> = {
  DUPLICATES_DETECTED:
    'a duplicate rule of the org found a record like it: merge the two, or set "duplicateAlerts: save" to pass over rules that only alert, then redrive; a rule that blocks has to be changed in Salesforce',
  DUPLICATE_VALUE: 'another record has the same value in a field that is unique',
  DUPLICATE_EXTERNAL_ID: 'several records have this external id: make the field unique',
  REQUIRED_FIELD_MISSING: 'the org requires a field that the mapping does not give',
  FIELD_CUSTOM_VALIDATION_EXCEPTION: 'a validation rule of the org refuses the record',
  STRING_TOO_LONG: 'the value is longer than the field',
  INVALID_EMAIL_ADDRESS: 'the value is no e-mail address to Salesforce',
  INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST: 'the value is none of the picklist',
  INVALID_FIELD_FOR_INSERT_UPDATE: 'the user may not write the field',
  INSUFFICIENT_ACCESS_OR_READONLY: 'the user may not write the record',
};

/**
 * What it means that one record was refused.
 * Source: Salesforce, SOAP API Developer Guide, "Core Data Types", StatusCode.
 * @param what the object, for the detail
 */
export function classifyRecordErrors(errors: readonly SaidError[], what: string, requestId?: string): RecordFailure {
  const said = errors[0] ?? { code: '', fields: [], message: '' };
  const code = said.code === '' ? 'unknown' : said.code;
  const at = requestId === undefined ? '' : `, request ${requestId}`;
  if (code === 'CANNOT_UPDATE_CONVERTED_LEAD') return { kind: 'converted' };
  if (errors.some((error) => passingCodes.has(error.code))) {
    return {
      kind: 'other',
      result: { kind: 'retry', detail: `Salesforce could not write a ${what} now (${code}${at})` },
    };
  }
  // Of a reference in the record, rather than of the record, where a field is named.
  if (gone.has(code) && said.fields.every((field) => field === 'Id' || field === 'id')) return { kind: 'gone' };
  const fields = said.fields.slice(0, 4).join('+');
  const result: Result = {
    kind: 'rejected',
    cause: `salesforce:${code}${fields === '' ? '' : `:${fields}`}`,
    detail: `Salesforce refused a ${what}: ${advice[code] ?? 'see the code'} (${code}${fields === '' ? '' : `, ${fields}`}${at})`,
  };
  return { kind: code === 'DUPLICATE_VALUE' ? 'duplicate' : 'other', result };
}
