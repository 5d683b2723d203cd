const MAX_BYTES = 64 * 2 ** 20;

/**
 * Rendered pages, so that a second walk over what has not changed costs the service next to nothing: a bench
 * measures its client, not this program. Bounded in bytes; the page used longest ago goes first.
 */
export class PageCache {
  readonly #pages = new Map<string, { madeOf: string; body: Buffer }>();
  #setting: unknown;
  #bytes = 0;

  /**
   * The page kept under a name, when it was made of the same versions.
   * @param setting what applies to every page; another object than last time empties the cache
   */
  get(name: string, madeOf: string, setting: unknown): Buffer | undefined {
    if (this.#setting !== setting) {
      this.#pages.clear();
      this.#bytes = 0;
      this.#setting = setting;
    }
    const page = this.#pages.get(name);
    if (page === undefined) return undefined;
    this.#drop(name);
    if (page.madeOf !== madeOf) return undefined;
    this.#keep(name, page);
    return page.body;
  }

  put(name: string, madeOf: string, body: Buffer): void {
    this.#drop(name);
    this.#keep(name, { madeOf, body });
    for (const oldest of this.#pages.keys()) {
      if (this.#bytes <= MAX_BYTES) return;
      this.#drop(oldest);
    }
  }

  #keep(name: string, page: { madeOf: string; body: Buffer }): void {
    this.#pages.set(name, page);
    this.#bytes += page.body.length;
  }

  #drop(name: string): void {
    this.#bytes -= this.#pages.get(name)?.body.length ?? 0;
    this.#pages.delete(name);
  }
}
