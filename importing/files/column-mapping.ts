/** The property that holds the code by which a registrant signs in. */
export const codeProperty = 'attendeeCode';

export interface MappedColumn {
  /** The name in the file's header. */
  readonly column: string;
  /** The profile field that its cells are sent as; null: not sent. */
  readonly property: string | null;
  /** Whether the property was guessed: neither named by the person nor the header's own word. */
  readonly guessed: boolean;
}

/** What becomes of each column of a file, in the file's order. No two columns have the same property. */
export interface ColumnMapping {
  readonly columns: readonly MappedColumn[];
}

/** What a person wants of columns, by name: a property, or null not to send the column. Also the form that is saved. */
export type MappingWishes = Readonly<Record<string, string | null>>;
