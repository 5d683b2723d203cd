import { MappingError } from './mapping-error.js';

/** A MappingError by its parts, so that who knows the line and the item can add them to what failed. */
export class FailedMapping extends MappingError {
  /**
   * @param key where the expression stands, e.g. `crm.records[0].properties.email`
   * @param code short and stable; groups dead letters together with the key
   * @param what the rest of the sentence that begins with the key, without any value
   * @param where what comes in between: line and item
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
