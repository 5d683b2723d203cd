/**
 * The folder or a file in it is not what this sink left there, so that writing on could lose or mix data. The message
 * is a sentence for a person: what was found, where, and what to do.
 */
export class DestinationChanged extends Error {
  override readonly name = 'DestinationChanged';
}
