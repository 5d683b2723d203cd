/** Saves the body of a response as a file. A plain link cannot send the token that the request needs. */
export async function saveFile(answer: Response, name: string): Promise<void> {
  const address = URL.createObjectURL(await answer.blob());
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
