import { useEffect, useState } from 'preact/hooks';
import { Store, useStore, serverNow } from '../asking/page-state.js';
import { formatDistance, formatSpan, withLocalNumbers } from '../../base/words.js';
import { splitAtInstants } from '../words.js';

/** The clock of the page. There is only one, so that all times change together. */
const second = new Store(serverNow());
let watched = 0;
let timer: ReturnType<typeof setInterval> | undefined;

function useNow(): number {
  useEffect(() => {
    watched += 1;
    timer ??= setInterval(() => second.set(serverNow()), 1000);
    return () => {
      watched -= 1;
      if (watched > 0) return;
      clearInterval(timer);
      timer = undefined;
    };
  }, []);
  useStore(second);
  return serverNow();
}

/** "3 s ago", with the instant as a tooltip. */
export function Ago({ at, never = '–' }: { readonly at: string | null | undefined; readonly never?: string }) {
  const now = useNow();
  if (at == null) return <span class="dim">{never}</span>;
  return (
    <time dateTime={at} title={whole(at)}>
      {formatDistance(Date.parse(at), now)}
    </time>
  );
}

/** Shows the time until an instant, such as "in 3 s". Once it is due, shows "now". */
export function Until({ at }: { readonly at: string | null | undefined }) {
  const now = useNow();
  if (at == null || Date.parse(at) - now >= 1000) return <Ago at={at} />;
  return (
    <time dateTime={at} title={whole(at)}>
      now
    </time>
  );
}

/** Time since an instant: "3 min". */
export function For({ since }: { readonly since: string }) {
  const now = useNow();
  return (
    <time dateTime={since} title={whole(since)}>
      {formatSpan(Math.max(0, (now - Date.parse(since)) / 1000))}
    </time>
  );
}

/** The local time of day with its zone, and with the date if it is not today. */
export function Clock({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} title={whole(at)}>
      {clock(at)}
    </time>
  );
}

function clock(at: string): string {
  const date = new Date(at);
  const seconds = /T\d\d:\d\dZ$/.test(at) ? {} : ({ second: '2-digit' } as const);
  const time = date.toLocaleTimeString([], {
    hour: '2-digit',
    minute: '2-digit',
    timeZoneName: 'short',
    ...seconds,
  });
  if (date.toDateString() === new Date().toDateString()) return time;
  return `${date.toLocaleDateString([], { day: 'numeric', month: 'short' })}, ${time}`;
}

function whole(at: string): string {
  return `${new Date(at).toLocaleString([], { dateStyle: 'medium', timeStyle: 'long' })} (${at})`;
}

/** A sentence of the API with its instants in local time and its numbers in the reader's language. */
export function Sentence({ text }: { readonly text: string }) {
  return (
    <>
      {splitAtInstants(text).map((part) =>
        part.instant ? <Clock key={part.text} at={part.text} /> : withLocalNumbers(part.text),
      )}
    </>
  );
}

/** Returns true after the given time, so that states that end sooner do not flicker. */
export function useAfter(ms: number): boolean {
  const [over, setOver] = useState(false);
  useEffect(() => {
    const wait = setTimeout(() => setOver(true), ms);
    return () => clearTimeout(wait);
  }, [ms]);
  return over;
}
