/**
 * Why an import is not begun, or nothing is done to it.
 * - `unknown` no such pigeonhole, import or mapping
 * - `wrong` what was asked cannot be meant: two pigeonholes of one id, an ended one without force
 * - `stopped` something has to be switched on or resumed first: registrants, the workspace; or the file is being changed
 * - `unreachable` the service cannot be asked now
 */
export type ImportRefusalKind = 'unknown' | 'wrong' | 'stopped' | 'unreachable';

/** Nothing was begun. The message is one sentence for a person: what, where, what to do. */
export class ImportRefusal extends Error {
  override readonly name = 'ImportRefusal';

  constructor(
    readonly kind: ImportRefusalKind,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
