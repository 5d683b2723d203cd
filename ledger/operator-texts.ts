/**
 * The two statements with which an erasure replaces texts that name a person. The texts were typed by an operator, or
 * quote the name, the columns or the sheets of an operator's file. The owner of the table offers them.
 */
export interface OperatorTexts {
  /** Returns each text once, as `text`. */
  readonly read: string;
  /** Erases the texts in the array `$1`. */
  readonly erase: string;
  /**
   * Whether the texts are code. Then only e-mail addresses name a person: numbers, and words that are also first names,
   * are part of any code.
   */
  readonly isCode?: true;
}
