/** What the sandbox holds, as its control API says: the source that everything here is compared with. */
export interface SandboxState {
  /** Live events so far. */
  readonly emitted: number;
  readonly subscriptions: number;
  readonly pigeonholes: readonly {
    readonly id: number;
    readonly status: string;
    /** Items by list. */
    readonly counts: Readonly<Record<string, number>>;
  }[];
}

export async function sandboxState(sandboxUrl: string): Promise<SandboxState> {
  return (await (await ask(`${sandboxUrl}/_control/state`)).json()) as SandboxState;
}

/** Items of a list, all pigeonholes together. Registrants cannot be read through the service, and so are no source. */
export function sourceCounts(state: SandboxState): Map<string, number> {
  const counts = new Map([
    ['pigeonholes', state.pigeonholes.length],
    ['subscriptions', state.subscriptions],
  ]);
  for (const pigeonhole of state.pigeonholes) {
    for (const [list, items] of Object.entries(pigeonhole.counts)) {
      if (list !== 'registrants') counts.set(list, (counts.get(list) ?? 0) + items);
    }
  }
  return counts;
}

/** Every item of one list, as the sandbox gives the truth. */
export async function readTruth<Item>(sandboxUrl: string, list: string, pigeonholeId: number): Promise<Item[]> {
  const answer = await ask(`${sandboxUrl}/_control/truth/${list}?pigeonhole=${pigeonholeId}`);
  const lines = (await answer.text()).split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as Item);
}

/** Items of one list, counted one by one in what the sandbox gives as the truth. @param pigeonholeId null: the workspace's own */
export async function countTruth(sandboxUrl: string, list: string, pigeonholeId: number | null): Promise<number> {
  const of = pigeonholeId === null ? '' : `?pigeonhole=${pigeonholeId}`;
  const answer = await ask(`${sandboxUrl}/_control/truth/${list}${of}`);
  let lines = 0;
  for await (const chunk of answer.body ?? []) {
    for (const byte of chunk) if (byte === 0x0a) lines += 1;
  }
  return lines;
}

async function ask(url: string): Promise<Response> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(30_000) });
  if (!answer.ok) throw new Error(`${url} answered HTTP ${answer.status}`);
  return answer;
}
