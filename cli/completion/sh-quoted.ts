/** A text as one word of a POSIX shell, bash or zsh. */
export function shQuoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
