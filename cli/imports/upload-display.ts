import type { Output } from '../context.js';
import { renderLine, span } from '../text-line.js';

/** A bar needs no more, and a terminal on a slow line takes no more. */
const drawEveryMs = 200;

/** Shows how far a file has been read by the running pigeonpost: it takes no more than it has looked at. */
export interface UploadDisplay {
  readonly onSent: (bytes: number) => void;
  /** Takes the line away. */
  end(): void;
}

/**
 * A large list takes minutes, and silence looks like failure. A line that is drawn over itself, on a terminal alone.
 * @param doing what is done with the file, such as "looking at people.csv"
 * @param fileBytes its size
 * @param now ms, by a clock that never jumps
 */
export function createUploadDisplay(
  out: Pick<Output, 'draw' | 'columns'>,
  { doing, fileBytes, now }: { readonly doing: string; readonly fileBytes: number; readonly now: () => number },
): UploadDisplay {
  let drawnAt = -Infinity;
  return {
    onSent(bytes) {
      if (now() - drawnAt < drawEveryMs) return;
      drawnAt = now();
      const share = fileBytes === 0 ? 100 : Math.min(100, Math.floor((100 * bytes) / fileBytes));
      out.draw(`\r${renderLine([span(`${doing}: ${share} %`)], { columns: out.columns, colours: false })}\u001b[K`);
    },
    end() {
      if (drawnAt > -Infinity) out.draw('\r\u001b[K');
      drawnAt = -Infinity;
    },
  };
}
