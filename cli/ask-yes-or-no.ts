import { createInterface } from 'node:readline/promises';
import { shownText } from './shown-text.js';

/** Asks at the terminal; undefined where there is none. Anything but a plain yes is a no. */
export async function askYesOrNo(question: string): Promise<boolean | undefined> {
  if (!process.stdin.isTTY) return undefined;
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await lines.question(`${shownText(question, { colours: false })} [y/N] `)).trim());
  } catch (error) {
    if (error instanceof Error && error.name === 'AbortError') return false; // Ctrl-C at the question
    throw error;
  } finally {
    lines.close();
  }
}
