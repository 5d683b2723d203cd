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
  /** Optional text field; absent: none. */
  readonly field?: { readonly label: string; readonly hint: string };
}

/** @internal for the dialog, which shows the question and answers it */
export interface OpenQuestion extends Question {
  readonly answer: (given: string | null) => void;
}

export const openQuestion = new Store<OpenQuestion | null>(null);

/** @returns the text of the field, empty without a text or a field; null if the person cancels */
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
