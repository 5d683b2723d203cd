import { damageOf } from './text-damage.js';

describe('the damage of a text', () => {
  it.each([
    ['M\ufffdller', 'broken-character'],
    ['SÃ©bastien', 'encoded-twice'],
    ['JÃ¶rg â€“ Team', 'encoded-twice'],
    ['Oâ€™Brien', 'encoded-twice'],
    ['Å ukasz Å»Ã³Å‚Ä‡', 'encoded-twice'],
    ['Ð˜Ð²Ð°Ð½', 'encoded-twice'],
  ])('is found in %j: %s', (text, damage) => {
    expect(damageOf(text)).toBe(damage);
  });

  it.each([
    'Müller',
    'Sébastien',
    'AT&T; R&D',
    'Smith & Sons; Co',
    'IRMÃ “Ã” MÃE',
    'SÃO JOSÉ',
    '“CAFÉ”',
    'L’Été',
    'ÂNGELA ÅSE ÄRLA',
    'Иван Петров',
    '山田',
    'Â “x”',
    'Đặng Thị Hồng',
    '10° ½ £5',
  ])('is not found in %j', (text) => {
    expect(damageOf(text)).toBeUndefined();
  });
});
