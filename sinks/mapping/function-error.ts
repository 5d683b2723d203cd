/** What a function of a mapping cannot do with what it was given. `code` joins the cause of a dead letter; see docs/mapping.md. */
export class FunctionError extends Error {
  override readonly name = 'FunctionError';

  constructor(
    readonly code:
      | 'not-an-instant'
      | 'no-time-zone'
      | 'not-a-text'
      | 'not-a-length'
      | 'not-a-field-name'
      | 'too-long'
      | 'withheld',
  ) {
    super(code);
  }
}
