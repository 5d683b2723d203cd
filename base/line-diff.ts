/** One line of a comparison. `skipped`: `text` says how many equal lines are left out. */
export interface DiffLine {
  readonly kind: 'same' | 'added' | 'removed' | 'skipped';
  readonly text: string;
}

/** Longer differences are shown as a whole: everything removed, then everything added. */
const maxCells = 4_000_000;
const context = 3;

/** Returns the lines that differ between two texts, with three equal lines around each difference. Pure. */
export function diffLines(before: string, after: string): DiffLine[] {
  return around(compared(linesOf(before), linesOf(after)));
}

function linesOf(text: string): string[] {
  const lines = text.replaceAll('\r\n', '\n').split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

function compared(before: readonly string[], after: readonly string[]): DiffLine[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  const shorter = Math.min(before.length, after.length) - start;
  while (end < shorter && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const same = (text: string): DiffLine => ({ kind: 'same', text });
  return [
    ...before.slice(0, start).map(same),
    ...changed(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...before.slice(before.length - end).map(same),
  ];
}

/** Finds a longest common subsequence of lines. */
function changed(before: readonly string[], after: readonly string[]): DiffLine[] {
  const removed = (text: string): DiffLine => ({ kind: 'removed', text });
  const added = (text: string): DiffLine => ({ kind: 'added', text });
  if (before.length * after.length > maxCells) return [...before.map(removed), ...after.map(added)];
  const width = after.length + 1;
  // The length of the longest common subsequence of the lines from each pair of positions on.
  const common = new Uint32Array((before.length + 1) * width);
  for (let i = before.length - 1; i >= 0; i -= 1) {
    for (let j = after.length - 1; j >= 0; j -= 1) {
      common[i * width + j] =
        before[i] === after[j]
          ? common[(i + 1) * width + j + 1]! + 1
          : Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!);
    }
  }
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    if (i < before.length && j < after.length && before[i] === after[j]) {
      lines.push({ kind: 'same', text: before[i]! });
      [i, j] = [i + 1, j + 1];
    } else if (
      i < before.length &&
      (j === after.length || common[(i + 1) * width + j]! >= common[i * width + j + 1]!)
    ) {
      lines.push(removed(before[i]!));
      i += 1;
    } else {
      lines.push(added(after[j]!));
      j += 1;
    }
  }
  return lines;
}

function around(lines: readonly DiffLine[]): DiffLine[] {
  const near = new Set<number>();
  lines.forEach(({ kind }, at) => {
    if (kind === 'same') return;
    for (let each = at - context; each <= at + context; each += 1) near.add(each);
  });
  if (near.size === 0) return [];
  const shown: DiffLine[] = [];
  let skipped = 0;
  const note = (): void => {
    if (skipped > 0) shown.push({ kind: 'skipped', text: skipped === 1 ? '1 equal line' : `${skipped} equal lines` });
    skipped = 0;
  };
  lines.forEach((line, at) => {
    if (!near.has(at)) {
      skipped += 1;
      return;
    }
    note();
    shown.push(line);
  });
  note();
  return shown;
}
