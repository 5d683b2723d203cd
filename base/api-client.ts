type Value = string | number;

/**
 * Returns an address such as `/api/sinks/{name}/lanes` with its parameters filled in, and with the query parameters
 * that have a value. Pure.
 */
export function filledAddress(
  path: string,
  {
    params = {},
    query = {},
  }: {
    readonly params?: Readonly<Record<string, Value>>;
    readonly query?: Readonly<Record<string, Value | undefined>>;
  },
): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name]!));
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) given.set(name, String(value));
  return given.size === 0 ? filled : `${filled}?${given.toString()}`;
}

/** A server-sent event. */
interface ServerEvent {
  readonly event: string;
  readonly data: string;
  /** Null if the event has no position to resume from. */
  readonly id: string | null;
}

/**
 * Yields server-sent events as soon as they are complete. An event may be split across chunks, and a chunk may hold
 * several events. Comments and events without data are dropped. Used instead of `EventSource`, which cannot send a
 * token and does not exist in Node.
 */
export async function* serverEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  // A reader, because some browsers cannot iterate a stream.
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const blocks = (rest + decoder.decode(value, { stream: true })).split('\n\n');
      rest = blocks.pop()!;
      for (const block of blocks) {
        const event = parse(block);
        if (event !== null) yield event;
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
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
