/** What a file may ask of the process that reads it. Far above any list of people, and below what would harm others. */
export const readLimits = {
  /** Columns of a header. */
  columns: 500,
  /** Characters of a column's name. */
  columnNameLength: 255,
  /** Bytes of one row of CSV, or one element of JSON: an open quotation mark must not swallow the file into memory. */
  recordBytes: 1024 * 1024,
  /** Bytes of JSON that are looked at to find the fields before the first row is handed on. */
  fieldSearchBytes: 4 * 1024 * 1024,
  /** Bytes of an XLSX file, which is held in memory: its table of contents stands at its end. */
  archiveBytes: 64 * 1024 * 1024,
  /** Files in an XLSX archive. */
  archiveEntries: 10_000,
  /** Bytes that all parts of an archive that are read may unfold to (a small archive can hold a huge nothing). */
  unfoldedBytes: 1024 * 1024 * 1024,
  /** Bytes of the texts that an XLSX file keeps in a table of its own, which is held in memory. */
  sharedTextBytes: 96 * 1024 * 1024,
  /** Number of those texts: each takes memory even when it is empty. */
  sharedTexts: 4_000_000,
  /** Characters of one token of XML: a comment, a text, an attribute. A cell has 32,767 at most. */
  xmlTokenLength: 1024 * 1024,
  /** Elements of XML within each other. */
  xmlDepth: 100,
  /** Relations of a part of an XLSX file, and sheets of a workbook. */
  relations: 10_000,
  sheets: 1_000,
  /** Styles of cells: Excel's own limit is 65,490. */
  styles: 100_000,
  /** Heap of the thread that reads a file. A million rows of XLSX take a tenth. */
  heapMegabytes: 256,
  /** Time that the thread computes until a file is open, and for each batch of rows. */
  stepMs: 120_000,
  /** Characters of one cell of XLSX: Excel's own limit. */
  cellLength: 32_767,
} as const;
