import { builtInForm, formOf } from './number-format.js';
import type { NumberForm } from './number-format.js';
import { readLimits } from '../read-limits.js';
import { RegistrantFileError } from '../registrant-file-error.js';
import { readXml } from './xml-events.js';

/** What each style of a workbook does to numbers, by the number under which cells name it. */
export async function readStyles(content: AsyncIterable<Buffer> | undefined): Promise<readonly NumberForm[]> {
  if (content === undefined) return [];
  const own = new Map<number, NumberForm>();
  const styles: NumberForm[] = [];
  let ofCells = false;
  await readXml(content, {
    open: (name, attribute) => {
      if (styles.length >= readLimits.styles || own.size >= readLimits.styles) throw tooMany();
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

function tooMany(): RegistrantFileError {
  return new RegistrantFileError(
    'too-large',
    `The workbook has more than ${readLimits.styles.toLocaleString('en')} styles of cells, more than Excel allows; save the sheet as CSV.`,
  );
}
