/**
 * Codes of what passes by itself: another transaction held the record, or Salesforce was short of something.
 * Source: Salesforce, SOAP API Developer Guide, "Core Data Types", StatusCode and ExceptionCode.
 */
export const passingCodes: ReadonlySet<string> = new Set([
  'UNABLE_TO_LOCK_ROW',
  'REQUEST_LIMIT_EXCEEDED',
  'SERVER_UNAVAILABLE',
  'SERVICE_UNAVAILABLE',
  'QUERY_TIMEOUT',
  'REQUEST_RUNNING_TOO_LONG',
  'EXCEEDED_ID_LIMIT',
  'PROCESSING_HALTED',
  'ALL_OR_NONE_OPERATION_ROLLED_BACK',
  'API_CURRENTLY_DISABLED',
  'STORAGE_LIMIT_EXCEEDED',
  'UNKNOWN_EXCEPTION',
]);
