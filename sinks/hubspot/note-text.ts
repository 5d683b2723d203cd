import { truncate } from '../mapping/truncate.js';
import { LONGEST_TEXT } from './property-value.js';

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\n': '<br>',
};

/**
 * A note's body, which HubSpot takes as HTML: the text as it was written, and below it the mark that identifies the note.
 * Too long a text is cut between two characters.
 */
export function noteText(text: string, mark: string): string {
  const end = `</p><p>${escaped(mark)}</p>`;
  const room = LONGEST_TEXT - '<p>'.length - end.length;
  let shown = truncate(text.replaceAll('\r\n', '\n'), room);
  // Escaping makes it longer by what the text is made of: cut by as much as it is too long until it fits.
  while (escaped(shown).length > room) {
    const share = room / escaped(shown).length;
    shown = truncate(shown, Math.min(shown.length - 1, Math.floor(shown.length * share)));
  }
  return `<p>${escaped(shown)}${end}`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"\n]/g, (character) => escapes[character]!);
}
