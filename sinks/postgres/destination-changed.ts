/**
 * The schema is not what this sink left there, or not its own, so that writing on could mix data. The message is a
 * sentence for a person: what was found, where, and what to do.
 */
export class DestinationChanged extends Error {
  override readonly name = 'DestinationChanged';
}
