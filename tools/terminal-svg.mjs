// Draws the output of a command on a terminal as an SVG picture for the documentation.
//
//   script -qc "stty cols 100; pigeonpost status" /dev/null | node tools/terminal-svg.mjs 'pigeonpost status' > docs/images/status.svg
//
// Understands colours and weights (SGR). Other escape sequences are removed, so record commands that do not redraw.
import { text } from 'node:stream/consumers';

const colours = {
  31: '#ff7b72',
  32: '#7ee787',
  33: '#e3b341',
  34: '#79c0ff',
  35: '#d2a8ff',
  36: '#76e3ea',
  90: '#8b949e',
};
const plain = { colour: '#e6edf3', bold: false, dim: false };
const [charWidth, lineHeight, padding] = [8.4, 20, 16];

const command = process.argv[2] ?? '';
const output = (await text(process.stdin)).replaceAll('\r', '').trimEnd().split('\n');
const lines = [`\x1b[36m$\x1b[39m \x1b[1m${command}\x1b[22m`, ...output].map(piecesOf);
const columns = Math.max(...lines.map((pieces) => pieces.reduce((sum, { chars }) => sum + chars.length, 0)));
process.stdout.write(drawing(lines, columns));

/** Splits a line into pieces of one style. Every line starts plain. */
function piecesOf(line) {
  let style = plain;
  return line.split(/(\x1b\[[0-9;?]*[A-Za-z])/).flatMap((part) => {
    if (!part.startsWith('\x1b[')) return part === '' ? [] : [{ chars: [...part], style }];
    if (part.endsWith('m')) style = part.slice(2, -1).split(';').reduce(styleAfter, style);
    return [];
  });
}

function styleAfter(style, code) {
  if (code === '' || code === '0') return plain;
  if (code === '1') return { ...style, bold: true };
  if (code === '2') return { ...style, dim: true };
  if (code === '22') return { ...style, bold: false, dim: false };
  if (code === '39') return { ...style, colour: plain.colour };
  return { ...style, colour: colours[code] ?? style.colour };
}

function drawing(rows, widest) {
  const width = Math.ceil(widest * charWidth + 2 * padding);
  const height = rows.length * lineHeight + 2 * padding;
  const texts = rows.map((pieces, row) => {
    let column = 0;
    return pieces
      .map(({ chars, style }) => {
        const x = (padding + column * charWidth).toFixed(1);
        column += chars.length;
        return drawnText(chars, style, x, padding + row * lineHeight + 14);
      })
      .join('');
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" role="img" aria-label="${escaped(command)}">
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="14">
${texts.filter(Boolean).join('\n')}
</g>
</svg>
`;
}

/** Fixes the width of the text, so that columns stay aligned in every monospace font. */
function drawnText(chars, { colour, bold, dim }, x, y) {
  const content = chars.join('');
  if (content.trim() === '') return '';
  const look = `${bold ? ' font-weight="600"' : ''}${dim ? ' opacity="0.65"' : ''}`;
  const length = (chars.length * charWidth).toFixed(1);
  return `<text x="${x}" y="${y}" fill="${colour}" textLength="${length}"${look}>${escaped(content)}</text>`;
}

function escaped(content) {
  return content.replaceAll(' ', '\u00a0').replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
