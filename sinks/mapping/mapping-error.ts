/** An expression that gave no usable value for one item. Names places and kinds, never what stood in the item. */
export class MappingError extends Error {
  override readonly name = 'MappingError';

  /**
   * @param causeCode short and stable, so that dead letters of one mistake stand together, e.g. `mapping: crm.records[0].properties.email: T0410`
   * @param message a sentence for a person: sink, expression, line, item, what is wrong
   */
  constructor(
    readonly causeCode: string,
    message: string,
  ) {
    super(message);
  }
}
