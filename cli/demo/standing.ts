/** How one list stands at one destination, as counted there and held against the source. */
export interface Standing {
  /** Items of the source that are there. */
  readonly delivered: number;
  /** What is there and should not be, or not so; a sentence each, without anyone's data. */
  readonly problems: readonly string[];
}
