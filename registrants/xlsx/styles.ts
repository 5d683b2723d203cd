import { builtInForm, formOf } from './number-format.js';
import type { NumberForm } from './number-format.js';
import { readXml } from './xml-events.js';

/** What each style of a workbook does to numbers, by the number under which cells name it. */
export async function readStyles(content: AsyncIterable<Buffer> | undefined): Promise<readonly NumberForm[]> {
  if (content === undefined) return [];
  const own = new Map<number, NumberForm>();
  const styles: NumberForm[] = [];
  let ofCells = false;
  await readXml(content, {
    open: (name, attribute) => {
      if (name === 'numFmt') own.set(Number(attribute('numFmtId')), formOf(attribute('formatCode') ?? ''));
      else if (name === 'cellXfs') ofCells = true;
      else if (name === 'xf' && ofCells) {
        const id = Number(attribute('numFmtId') ?? 0);
        styles.push(own.get(id) ?? builtInForm(id)); // numFmts stand before cellXfs (18.8.39)
      }
    },
    text: () => undefined,
    close: (name) => {
      if (name === 'cellXfs') ofCells = false;
    },
  });
  return styles;
}
