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
  let body = '<p>';
  for (const character of text.replaceAll('\r\n', '\n')) {
    const next = escapes[character] ?? character;
    if (body.length + next.length + end.length > LONGEST_TEXT) break;
    body += next;
  }
  return body + end;
}

function escaped(text: string): string {
  return text.replace(/[&<>"\n]/g, (character) => escapes[character]!);
}
