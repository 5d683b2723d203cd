/** Kinds of rounds, in the order in which waiting rounds start: a running session, another poll, a first read or sweep. */
export type RoundKind = 'live' | 'poll' | 'background';

const kinds: readonly RoundKind[] = ['live', 'poll', 'background'];

interface Waiting {
  readonly kind: RoundKind;
  readonly workspace: string;
  readonly start: () => void;
}

/** Rounds in progress. */
interface Running {
  all: number;
  background: number;
}

interface Workspace extends Running {
  /** Increases with each round of any workspace; 0 until the first round. */
  servedAt: number;
}

/**
 * Decides which rounds run now, for all workspaces of a process, because a limited number of rounds run at the same
 * time. Waiting rounds start by kind: running sessions, then other polls, then first reads and sweeps. Within a kind,
 * the workspaces rotate.
 *
 * Background rounds have at most a quarter of the places. So have the rounds of one workspace if there are others, and
 * at most half of those are background rounds. Therefore neither a slow service nor a workspace with a million items
 * delays a running session, in its own workspace or in another one.
 */
export class RoundQueue {
  readonly #waiting: Waiting[] = [];
  readonly #running: Running = { all: 0, background: 0 };
  /** Workspaces stay here when their last round has ended. */
  readonly #workspaces = new Map<string, Workspace>();
  #started = 0;

  /** @param places maximum number of rounds that run at the same time */
  constructor(private readonly places: number) {}

  /**
   * Runs `work` when a place is free for it.
   * @returns undefined, and runs nothing, if the signal is aborted before
   */
  async run<Result>(
    { kind, workspace }: { readonly kind: RoundKind; readonly workspace: string },
    signal: AbortSignal,
    work: () => Promise<Result>,
  ): Promise<Result | undefined> {
    if (!(await this.#wait(kind, workspace, signal))) return undefined;
    try {
      return await work();
    } finally {
      this.#count(kind, workspace, -1);
      this.#startNext();
    }
  }

  /** @returns false if the signal was aborted first */
  async #wait(kind: RoundKind, workspace: string, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false;
    return await new Promise((resolve) => {
      const giveUp = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        resolve(false);
      };
      const start = (): void => {
        signal.removeEventListener('abort', giveUp);
        resolve(true);
      };
      const waiting: Waiting = { kind, workspace, start };
      signal.addEventListener('abort', giveUp, { once: true });
      this.#of(workspace); // known from now on, so that it counts as another workspace for the others
      this.#waiting.push(waiting);
      this.#startNext();
    });
  }

  #startNext(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      this.#waiting.splice(this.#waiting.indexOf(next), 1);
      this.#count(next.kind, next.workspace, 1);
      this.#of(next.workspace).servedAt = this.#started += 1;
      next.start();
    }
  }

  #next(): Waiting | undefined {
    if (this.#running.all >= this.places) return undefined;
    for (const kind of kinds) {
      const [next] = this.#waiting
        .filter((each) => each.kind === kind && this.#hasPlace(each))
        .toSorted((a, b) => this.#of(a.workspace).servedAt - this.#of(b.workspace).servedAt); // stable
      if (next !== undefined) return next;
    }
    return undefined;
  }

  #hasPlace({ kind, workspace }: Waiting): boolean {
    const quarter = Math.ceil(this.places / 4);
    const share = this.#workspaces.size > 1 ? quarter : this.places;
    const { all, background } = this.#of(workspace);
    if (all >= share) return false;
    return kind !== 'background' || (this.#running.background < quarter && background < Math.ceil(share / 2));
  }

  #count(kind: RoundKind, workspace: string, change: 1 | -1): void {
    for (const running of [this.#running, this.#of(workspace)]) {
      running.all += change;
      if (kind === 'background') running.background += change;
    }
  }

  #of(workspace: string): Workspace {
    const known = this.#workspaces.get(workspace);
    if (known !== undefined) return known;
    const fresh = { all: 0, background: 0, servedAt: 0 };
    this.#workspaces.set(workspace, fresh);
    return fresh;
  }
}
