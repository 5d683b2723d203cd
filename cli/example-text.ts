/** Examples below a command's help, each as it is typed. */
export function exampleText(...lines: readonly string[]): string {
  const title = lines.length === 1 ? 'Example:' : 'Examples:';
  return ['', title, ...lines.map((line) => `  pigeonpost ${line}`)].join('\n');
}
