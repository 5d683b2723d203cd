/** A list of contacts, which HubSpot's pages call a segment. */
export interface ContactList {
  readonly listId: string;
  /** `MANUAL`: filled by people and by calls; `DYNAMIC`: filled by HubSpot's filters, so that no call may change it. */
  readonly processingType: 'MANUAL' | 'DYNAMIC';
  readonly members: Set<string>;
}

/** The lists of one account. */
export class ContactLists {
  readonly #lists: ReadonlyMap<string, ContactList>;

  constructor(lists: readonly { readonly listId: string; readonly dynamic?: boolean }[]) {
    this.#lists = new Map(
      lists.map(({ listId, dynamic }) => [
        listId,
        { listId, processingType: dynamic === true ? 'DYNAMIC' : 'MANUAL', members: new Set() },
      ]),
    );
  }

  find(listId: string): ContactList | undefined {
    return this.#lists.get(listId);
  }

  all(): ContactList[] {
    return [...this.#lists.values()];
  }
}
