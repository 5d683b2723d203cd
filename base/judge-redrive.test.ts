import { judgeRedrive, type RedrivenChange, type RedriveOutcome } from './judge-redrive.js';

function change(key: string, revision = 1): RedrivenChange {
  return { workspace: 'acme', pigeonholeId: 101, list: 'attendees', key, revision };
}

const two = { changes: 2, shown: [change('1'), change('2')] };

describe('the outcome of two redriven dead letters', () => {
  it.each<[string, readonly RedrivenChange[], number, RedriveOutcome]>([
    ['both are in progress', [], 2, { settled: 0, refusedAgain: 0, onTheWay: 2 }],
    ['both are settled', [], 0, { settled: 2, refusedAgain: 0, onTheWay: 0 }],
    ['one is refused again', [change('2')], 0, { settled: 1, refusedAgain: 1, onTheWay: 0 }],
    [
      'other open deliveries are not counted',
      [change('1'), change('2')],
      9,
      { settled: 0, refusedAgain: 2, onTheWay: 0 },
    ],
    [
      'a new dead letter is not counted',
      [change('3'), change('1', 2)],
      0,
      { settled: 2, refusedAgain: 0, onTheWay: 0 },
    ],
  ])('%s', (_, dead, open, outcome) => {
    expect(judgeRedrive(two, dead, open)).toEqual(outcome);
  });
});
