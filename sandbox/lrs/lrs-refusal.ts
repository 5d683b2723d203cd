/** A request that the LRS refuses, with the status that the specification gives it (Communication, 3.2). */
export class LrsRefusal extends Error {
  override readonly name = 'LrsRefusal';

  constructor(
    readonly status: 400 | 401 | 403 | 404 | 405 | 409 | 413 | 429,
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }
}
