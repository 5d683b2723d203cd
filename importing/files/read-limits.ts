/** Limits of a file: far above any list of people, and low enough to protect the process. */
export const readLimits = {
  /** Columns of a header. */
  columns: 500,
  /** Characters of a column's name. */
  columnNameLength: 255,
  /**
   * Bytes of a CSV row or JSON element, so that an unclosed quotation mark does not load the whole file into memory.
   */
  recordBytes: 1024 * 1024,
  /** Bytes of JSON inspected for field names before the first row is returned. */
  fieldSearchBytes: 4 * 1024 * 1024,
  /** Bytes of an XLSX file, which is kept in memory because its table of contents is at its end. */
  archiveBytes: 64 * 1024 * 1024,
  /** Files in an XLSX archive. */
  archiveEntries: 10_000,
  /** Uncompressed bytes of all parts read from an archive (protects against zip bombs). */
  unfoldedBytes: 1024 * 1024 * 1024,
  /** Bytes of an XLSX file's shared strings, which are kept in memory. */
  sharedTextBytes: 96 * 1024 * 1024,
  /** Number of shared strings: each takes memory even if it is empty. */
  sharedTexts: 4_000_000,
  /** Characters of one XML token: a comment, a text, an attribute. A cell has at most 32,767. */
  xmlTokenLength: 1024 * 1024,
  /** Nesting depth of XML. */
  xmlDepth: 100,
  /** Relations of a part of an XLSX file, and sheets of a workbook. */
  relations: 10_000,
  sheets: 1_000,
  /** Styles of cells: Excel's own limit is 65,490. */
  styles: 100_000,
  /** Heap of the thread that reads a file. A million XLSX rows take a tenth of it. */
  heapMegabytes: 256,
  /** Computing time of the thread until a file is open, and for each batch of rows. */
  stepMs: 120_000,
  /** Characters of one cell of XLSX: Excel's own limit. */
  cellLength: 32_767,
} as const;
