/** Returns the sandbox's present items of a list, over all sessions, to compare a sink with. */
export async function truthOf(baseUrl: string, list: string, pigeonholeId: number): Promise<Record<string, unknown>[]> {
  const answer = await fetch(`${baseUrl}/_control/truth/${list}?pigeonhole=${pigeonholeId}`);
  if (!answer.ok)
    throw new Error(`the sandbox's truth of ${list} answers HTTP ${answer.status}: ${await answer.text()}`);
  return (await answer.text())
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}
