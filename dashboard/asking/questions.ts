import type { ComponentChildren } from 'preact';
import { Store } from './store.js';

/** A confirmation before an action. */
export interface Question {
  readonly title: string;
  readonly body: ComponentChildren;
  /** Label of the button that confirms. */
  readonly confirm: string;
  /** Cannot be undone from here. */
  readonly grave?: boolean;
  /** A line that may be written along; absent: none. */
  readonly field?: { readonly label: string; readonly hint: string };
}

/** @internal the dialog shows it and answers */
export interface OpenQuestion extends Question {
  readonly answer: (given: string | null) => void;
}

export const openQuestion = new Store<OpenQuestion | null>(null);

/** @returns what was written, empty where nothing was or could be; null when the person would rather not */
export async function askPerson(question: Question): Promise<string | null> {
  openQuestion.value?.answer(null);
  return await new Promise((resolve) => {
    openQuestion.set({
      ...question,
      answer: (given) => {
        openQuestion.set(null);
        resolve(given);
      },
    });
  });
}
