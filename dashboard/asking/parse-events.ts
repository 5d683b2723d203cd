/** A server-sent event. */
interface ServerEvent {
  readonly event: string;
  readonly data: string;
  /** Null if the event has no position to resume from. */
  readonly id: string | null;
}

/**
 * Parses server-sent events from chunks of text. An event may be split across chunks, and a chunk may hold several
 * events. Used instead of the browser's `EventSource`, which cannot send a token.
 */
export class EventParser {
  #rest = '';

  /** @returns the events that are complete so far; comments and events without data are dropped */
  push(text: string): ServerEvent[] {
    const blocks = (this.#rest + text).split(/\n\n/);
    this.#rest = blocks.pop()!;
    return blocks.map(parse).filter((event) => event !== null);
  }
}

function parse(block: string): ServerEvent | null {
  let event = 'message';
  let id: string | null = null;
  const data: string[] = [];
  for (const line of block.split('\n')) {
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'event') event = value;
    else if (field === 'id') id = value;
    else if (field === 'data') data.push(value);
  }
  return data.length === 0 ? null : { event, id, data: data.join('\n') };
}
