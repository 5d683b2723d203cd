import { readFileSync } from 'node:fs';
import { tokenFileOfStore } from '../../worker/instance-file.js';
import { type ApiClient, apiClient } from '../api-client.js';
import { pageLink } from '../commands/open.js';
import type { DemoFolder } from './demo-folder.js';
import type { DemoProcesses } from './demo-processes.js';
import type { DemoView } from './demo-screen.js';
import {
  hubSpotState,
  hubSpotSummary,
  sandboxState,
  type SandboxState,
  slackState,
  slackSummary,
} from './stand-in-state.js';

/**
 * The interval at which the stand-ins are read. It is longer than that of pigeonpost, because they return their whole
 * content, which grows.
 */
const lookAtStandInsEveryMs = 3000;
/** Interval at which the link is renewed: links expire after ten minutes. */
const renewLinkEveryMs = 5 * 60_000;

/** Reads the state of a running demo from the control APIs of the stand-ins and pigeonpost's own API. */
export class DemoObserver {
  readonly #folder: DemoFolder;
  readonly #processes: DemoProcesses;
  readonly #startedAt = Date.now();
  #source: SandboxState | null = null;
  #status: DemoView['status'] = null;
  #contacts = '';
  #messages = '';
  #lookedAtStandInsAt = -Infinity;
  #link: string | null = null;
  #linkMadeAt = -Infinity;

  constructor(folder: DemoFolder, processes: DemoProcesses) {
    this.#folder = folder;
    this.#processes = processes;
  }

  /**
   * Returns the state of the demo. Values that cannot be read now keep their last state, and `note` says so.
   * `DemoProcesses` detects processes that have ended.
   */
  async look(): Promise<DemoView> {
    const notes = [this.#processes.stage];
    const { sandboxUrl, apiUrl } = this.#processes.addresses;
    try {
      if (sandboxUrl !== undefined) this.#source = await sandboxState(sandboxUrl);
      if (apiUrl !== undefined) await this.#lookAtPigeonpost(apiUrl);
      await this.#lookAtStandIns();
    } catch (error) {
      notes.push(`not up to date: ${error instanceof Error ? error.message : String(error)}`);
    }
    return {
      note: notes.find((note) => note !== null) ?? null,
      runningForMs: Date.now() - this.#startedAt,
      source: this.#source,
      status: this.#status,
      places: this.#places(),
    };
  }

  async #lookAtPigeonpost(apiUrl: string): Promise<void> {
    const token = readFileSync(tokenFileOfStore(this.#folder.store), 'utf8').trim();
    const client = apiClient(() => Promise.resolve({ url: apiUrl, token }));
    this.#status = await client.status({ counts: true });
    await this.#renewLink(apiUrl, client);
  }

  async #renewLink(apiUrl: string, client: ApiClient): Promise<void> {
    const now = Date.now();
    if (now - this.#linkMadeAt < renewLinkEveryMs) return;
    this.#link = pageLink(apiUrl, await client.createPageCode());
    this.#linkMadeAt = now;
  }

  async #lookAtStandIns(): Promise<void> {
    const { hubSpotUrl, slackUrl } = this.#processes.addresses;
    const now = Date.now();
    if (hubSpotUrl === undefined || slackUrl === undefined) return;
    if (now - this.#lookedAtStandInsAt < lookAtStandInsEveryMs) return;
    this.#lookedAtStandInsAt = now;
    this.#contacts = hubSpotSummary(await hubSpotState(hubSpotUrl));
    this.#messages = slackSummary(await slackState(slackUrl));
  }

  #places(): DemoView['places'] {
    const { hubSpotUrl, slackUrl } = this.#processes.addresses;
    return [
      ...(this.#link === null ? [] : [{ label: 'page', place: this.#link, holds: '' }]),
      ...(slackUrl === undefined ? [] : [{ label: 'messages', place: slackUrl, holds: this.#messages }]),
      ...(hubSpotUrl === undefined ? [] : [{ label: 'contacts', place: hubSpotUrl, holds: this.#contacts }]),
      { label: 'files', place: this.#folder.shown, holds: 'archive, receipts.ndjson, pigeonpost.yaml, logs' },
    ];
  }
}
