import { RegistrantFileError } from '../registrant-file-error.js';
import { SharedTexts } from './shared-texts.js';

describe('the texts of an XLSX file', () => {
  it('are given back by their number, over pages and growing tables', () => {
    const texts = new SharedTexts();
    const written = Array.from({ length: 5_000 }, (_text, index) => `${index} é日😀 ${'x'.repeat(index % 700)}`);
    for (const text of ['', ...written]) texts.add(text);
    expect(texts.at(0)).toBe('');
    expect(written.map((_text, index) => texts.at(index + 1))).toEqual(written);
    expect([texts.at(5_001), texts.at(-1), texts.at(Number.NaN)]).toEqual([undefined, undefined, undefined]);
  });

  it('are refused beyond their limit, before memory is', () => {
    const texts = new SharedTexts(2 * 1024 * 1024);
    const add = () => {
      for (let count = 0; count < 100; count++) texts.add('x'.repeat(30_000));
    };
    expect(add).toThrow(RegistrantFileError);
    expect(texts.at(60)).toHaveLength(30_000);
  });
});
