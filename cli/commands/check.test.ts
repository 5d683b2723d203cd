import type { CheckState } from '../../operations/checks.js';
import { verdictOf } from './check.js';

describe('the verdict of check', () => {
  const results = (...all: CheckState[]) => all.map((state) => ({ state }));

  it('names the next command if there is no problem', () => {
    expect(verdictOf(results('ok', 'note', 'ok', 'warning'), './pigeonpost.yaml', false)).toEqual([
      'no problems: 2 checks passed, 1 warning to review',
      'next: pigeonpost start',
    ]);
    expect(verdictOf(results('ok'), './pigeonpost.yaml', true)).toEqual([
      'no problems: 1 check passed',
      'next: pigeonpost runs; to use a changed file, run: pigeonpost config apply',
    ]);
  });

  it('counts what is refused or out of reach, and asks for another check', () => {
    expect(verdictOf(results('ok', 'failed', 'unknown'), './other.yaml', true)).toEqual([
      '2 problems: fix each PROBLEM above, then run: pigeonpost check --config ./other.yaml',
    ]);
  });
});
