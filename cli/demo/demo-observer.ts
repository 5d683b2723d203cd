import { apiClient } from '../api-client.js';
import type { DemoFolder } from './demo-folder.js';
import type { DemoProcesses } from './demo-processes.js';
import type { DemoView } from './demo-view.js';
import { sandboxState, type SandboxState } from './sandbox-state.js';

/** Looks at a running demo through the doors that anyone has: the sandbox's control API and pigeonpost's own API. */
export class DemoObserver {
  readonly #folder: DemoFolder;
  readonly #processes: DemoProcesses;
  readonly #startedAt = Date.now();
  #source: SandboxState | null = null;
  #status: DemoView['status'] = null;

  constructor(folder: DemoFolder, processes: DemoProcesses) {
    this.#folder = folder;
    this.#processes = processes;
  }

  /**
   * How things stand. What cannot be read just now stays as it was last seen, and `note` says so: that a process is
   * gone is not found out here, but by whoever started it.
   */
  async look(): Promise<DemoView> {
    const notes = [this.#processes.stage];
    const { sandboxUrl, apiUrl } = this.#processes.addresses;
    try {
      if (sandboxUrl !== undefined) this.#source = await sandboxState(sandboxUrl);
      if (apiUrl !== undefined) this.#status = await apiClient(apiUrl).status({ counts: true });
    } catch (error) {
      notes.push(`not up to date: ${error instanceof Error ? error.message : String(error)}`);
    }
    return {
      note: notes.find((note) => note !== null) ?? null,
      runningForMs: Date.now() - this.#startedAt,
      source: this.#source,
      status: this.#status,
      places: this.#places(apiUrl),
    };
  }

  #places(apiUrl: string | undefined): DemoView['places'] {
    const { shown } = this.#folder;
    return [
      ['archive', `${shown}/archive`],
      ['hooks', `${shown}/receipts.ndjson`],
      ['other', `${shown} (pigeonpost.yaml, logs)`],
      ...(apiUrl === undefined ? [] : [['api', `${apiUrl}/api/status`] as const]),
    ];
  }
}
