/** Names of files, columns and sheets are other people's, and a terminal obeys control characters. Pure. */
export function withoutControls(line: string): string {
  return line.replace(/\p{Cc}/gu, ' ');
}
