import { styleText } from 'node:util';
import type { Style } from './text-line.js';

/** A text in a colour where there are colours, else as it is. */
export function paint(text: string, style: Style | undefined, colours: boolean): string {
  return colours && style !== undefined ? styleText(style, text, { validateStream: false }) : text;
}
