import { nameParts } from './name-parts.js';

describe('a full name', () => {
  it.each([
    ['Ada Lovelace', 'Ada', 'Lovelace'],
    [' Ada  King ', 'Ada', 'King'],
    ['Ada', undefined, 'Ada'],
    ['Lovelace, Ada', 'Ada', 'Lovelace'],
    ['Ludwig van Beethoven', 'Ludwig', 'van Beethoven'],
    ['María de la Cruz', 'María', 'de la Cruz'],
    ['Mary Jane Watson', 'Mary Jane', 'Watson'],
    ['Sammy Davis Jr.', 'Sammy', 'Davis Jr.'],
    ['Ada Lovelace, PhD', 'Ada', 'Lovelace, PhD'],
    ['ada byron lovelace', 'ada byron', 'lovelace'],
    ['van Gogh', 'van', 'Gogh'],
    ['山田太郎', undefined, '山田太郎'],
    ['Ali Ali', 'Ali', 'Ali'],
    ['Jr.', undefined, 'Jr.'],
    [',', undefined, ','],
    ['   ', undefined, undefined],
  ])('%j has the first name %j and the last name %j', (name, first, last) => {
    expect(nameParts(name)).toEqual({ ...(first !== undefined && { first }), ...(last !== undefined && { last }) });
  });
});
