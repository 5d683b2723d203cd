import { messageOf } from '../../base/errors.js';
import type { ApiClient } from '../api-client.js';
import { type Output, LiveBlock } from '../output.js';
import { ItemCounts, type Moment, readMoment } from '../status/format-status.js';
import { liveScreen } from './status.js';
import { formatSpan } from '../../base/words.js';
import { span, wholeSpan, type TextLine, keepEnd, wrapLines } from '../text-line.js';

const drawEveryMs = 1000;
const readEveryMs = 2000;
/**
 * Interval at which the link is renewed, so that the one on the screen is always valid: links expire after ten minutes.
 */
const renewLinkEveryMs = 5 * 60_000;

export interface StartReport {
  /** A step that may take long has started. */
  step(text: string): void;
  /** The API now serves requests. */
  serving(api: ApiClient, pageLink: () => string): void;
  ready(workspaces: readonly string[]): void;
  stopping(): void;
  end(): void;
}

/** The screen of `start` on a terminal, redrawn in place every second. */
export class StartDisplay implements StartReport {
  readonly #out: Output;
  readonly #block: LiveBlock;
  readonly #timer: NodeJS.Timeout;
  #state: StartState;
  #moment: Moment | null = null;
  #api: ApiClient | null = null;
  #pageLink: (() => string) | null = null;
  #linkMadeMs = 0;
  #readMs = -Infinity;
  #isReading = false;
  readonly #itemCounts = new ItemCounts();

  /** @param log path of the log */
  constructor(out: Output, log: string) {
    this.#out = out;
    this.#block = new LiveBlock(out, { hasScreen: true });
    this.#state = { startedMs: Date.now(), phase: 'starting', steps: [], page: null, log, note: null };
    this.#timer = setInterval(() => this.#tick(), drawEveryMs);
    this.#draw();
  }

  step(text: string): void {
    this.#change({ steps: withStep(this.#state.steps, { text, sinceMs: Date.now() }) });
  }

  serving(api: ApiClient, pageLink: () => string): void {
    this.#api = api;
    this.#pageLink = pageLink;
    this.#tick();
  }

  ready(): void {
    if (this.#state.phase === 'starting') this.#change({ phase: 'running' });
  }

  stopping(): void {
    this.#api = null;
    this.#change({ phase: 'stopping', steps: [], page: null, note: null });
  }

  end(): void {
    clearInterval(this.#timer);
    this.#api = null;
    this.#change(this.#state.phase === 'stopping' ? { phase: 'stopped', note: null } : {});
  }

  #change(changes: Partial<StartState>): void {
    this.#state = { ...this.#state, ...changes };
    this.#draw();
  }

  #tick(): void {
    const now = Date.now();
    if (this.#pageLink !== null && this.#api !== null && now - this.#linkMadeMs >= renewLinkEveryMs) {
      this.#linkMadeMs = now;
      this.#state = { ...this.#state, page: this.#pageLink() };
    }
    if (this.#api !== null && !this.#isReading && now - this.#readMs >= readEveryMs)
      this.#read(this.#api).catch(() => undefined);
    this.#draw();
  }

  async #read(api: ApiClient): Promise<void> {
    this.#isReading = true;
    try {
      this.#moment = await readMoment(api, { counts: false, itemCounts: this.#itemCounts });
      if (this.#api !== null) this.#state = { ...this.#state, note: null };
    } catch (error) {
      const note = `not up to date: ${messageOf(error)}`;
      if (this.#api !== null) this.#state = { ...this.#state, note };
    } finally {
      this.#isReading = false;
      this.#readMs = Date.now();
    }
  }

  #draw(): void {
    const now = new Date();
    const { columns } = this.#out;
    // While pigeonpost stops, its state is no longer read, so the part below the head could be outdated and is not
    // shown.
    const isEnding = this.#state.phase === 'stopping' || this.#state.phase === 'stopped';
    const moment = isEnding ? null : this.#moment;
    this.#block.show(liveScreen(startHead(this.#state, now.getTime(), columns), moment, now, this.#out));
  }
}

/** Adds a step, or updates the last one if only its numbers differ. */
export function withStep(steps: readonly StartStep[], step: StartStep): StartStep[] {
  const kind = (text: string): string => text.replaceAll(/\d+/g, '#');
  const last = steps.at(-1);
  if (last === undefined || kind(last.text) !== kind(step.text)) return [...steps, step];
  return [...steps.slice(0, -1), { ...step, sinceMs: last.sinceMs }];
}

interface StartStep {
  readonly text: string;
  readonly sinceMs: number;
}

export interface StartState {
  readonly startedMs: number;
  readonly phase: 'starting' | 'running' | 'stopping' | 'stopped';
  /** Finished steps and the current one, oldest first; the last is in progress until the phase is `running`. */
  readonly steps: readonly StartStep[];
  /** A link that signs a browser in; null while the process does not serve yet. */
  readonly page: string | null;
  readonly log: string;
  /** Why the rest of the screen may be out of date; null if it is current. */
  readonly note: string | null;
}

const labelWidth = 'page  '.length;

/** Returns the pinned top of the screen: a title, the page, the log, and the steps. Pure. */
export function startHead(state: StartState, nowMs: number, columns: number): TextLine[] {
  const { phase, startedMs, page, log, note, steps } = state;
  const age = formatSpan((nowMs - startedMs) / 1000);
  const titles = {
    starting: ` is starting, ${age} so far; Ctrl-C stops it`,
    running: ` is ready, up for ${age}; press Ctrl-C to stop it`,
    stopping: ' is stopping; press Ctrl-C again to end it now, without data loss',
    stopped: ` has stopped after ${age}`,
  };
  const place = (label: string, text: string): TextLine => [
    span(label.padEnd(labelWidth), 'dim'),
    span(keepEnd(text, Math.max(1, columns - labelWidth))),
  ];
  return [
    [span('pigeonpost', 'bold'), span(titles[phase], phase === 'stopping' ? 'yellow' : 'dim')],
    ...(page === null ? [] : [[span('page'.padEnd(labelWidth), 'dim'), wholeSpan(page)]]),
    place('log', log),
    ...(phase === 'running' || phase === 'stopped' ? [] : stepLines(steps, nowMs, { columns, phase })),
    ...(note === null ? [] : wrapLines(note, 'yellow', { columns })),
  ];
}

/** Formats finished steps with their duration, and the current one with the time so far. */
function stepLines(
  steps: readonly StartStep[],
  nowMs: number,
  { columns, phase }: { readonly columns: number; readonly phase: StartState['phase'] },
): TextLine[] {
  const lines = steps.flatMap(({ text, sinceMs }, index): TextLine[] => {
    const isLast = index === steps.length - 1;
    const endMs = steps[index + 1]?.sinceMs ?? nowMs;
    const took = `${formatSpan((endMs - sinceMs) / 1000)}${isLast ? ' so far' : ''}`;
    const style = !isLast ? 'dim' : phase === 'stopping' ? 'yellow' : undefined;
    return wrapLines(`${text} (${took})`, style, { columns, lead: isLast ? '> ' : '  ', indent: 2 });
  });
  return [[], ...lines];
}
