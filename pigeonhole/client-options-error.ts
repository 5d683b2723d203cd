/** Options that no client can be made of. Names the option, never its value: it may hold a key or a proxy's password. */
export class ClientOptionsError extends Error {
  override readonly name = 'ClientOptionsError';
  readonly option: string;

  /** @param problem what is wrong and what is allowed, as the rest of a sentence that begins with the option's name */
  constructor(option: string, problem: string) {
    super(`${option} ${problem}.`);
    this.option = option;
  }
}
