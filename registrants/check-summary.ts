import { isSendable } from './checked-row.js';
import type { CheckedRow, NoteCode, Problem, ProblemCode } from './checked-row.js';

/** Problems and notes that are kept word for word; beyond them they are counted. */
const kept = 1_000;

export interface CheckSummary {
  readonly rows: number;
  readonly sendable: number;
  readonly invalid: number;
  /** The first 1,000, in the file's order. */
  readonly problems: readonly Problem[];
  readonly problemCounts: Readonly<Partial<Record<ProblemCode, number>>>;
  /** The first of each kind in each column stands for all of them. */
  readonly notes: readonly { readonly first: Problem; readonly rows: number }[];
}

/** Counts what was found in a file, in memory that does not grow with it. */
export class CheckTally {
  #sendable = 0;
  #invalid = 0;
  readonly #problems: Problem[] = [];
  readonly #problemCounts = new Map<string, number>();
  readonly #notes = new Map<string, { first: Problem; rows: number }>();

  add(rows: readonly CheckedRow[]): void {
    for (const row of rows) {
      if (isSendable(row)) {
        this.#sendable++;
        for (const note of row.notes) this.#addNote(note);
      } else {
        this.#invalid++;
        for (const problem of row.problems) this.#addProblem(problem);
      }
    }
  }

  summary(): CheckSummary {
    return {
      rows: this.#sendable + this.#invalid,
      sendable: this.#sendable,
      invalid: this.#invalid,
      problems: [...this.#problems],
      problemCounts: Object.fromEntries(this.#problemCounts),
      notes: [...this.#notes.values()].map((note) => ({ ...note })),
    };
  }

  #addProblem(problem: Problem): void {
    if (this.#problems.length < kept) this.#problems.push(problem);
    this.#problemCounts.set(problem.code, (this.#problemCounts.get(problem.code) ?? 0) + 1);
  }

  #addNote(note: Problem): void {
    const code: NoteCode | ProblemCode = note.code;
    const key = JSON.stringify([note.column, code]);
    const before = this.#notes.get(key);
    if (before === undefined) this.#notes.set(key, { first: note, rows: 1 });
    else before.rows++;
  }
}
