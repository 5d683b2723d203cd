import { type PlanningLane, SharedTallies, type Tally } from './count-deliverable.js';

/** Creates a request with a time limit of 2 s, in which planning a list takes 600 ms. */
function request() {
  let now = 0;
  const planned: string[] = [];
  const tallies = new SharedTallies(
    { items: 1000, ms: 500 },
    2000,
    async ({ sinkName, pigeonholeNumber }, { list, withheldFor }) => {
      now += 600;
      planned.push([sinkName, pigeonholeNumber, list, ...(withheldFor ?? [])].join(' '));
      return { given: 10, sent: pigeonholeNumber === 1 ? 6 : 8, withheld: { condition: 2 }, failed: 0, complete: true };
    },
    () => now,
  );
  const of = async (
    pigeonholeNumber: number,
    list = 'attendees',
    sinkName = 'crm',
    withheldFor: string[] | null = null,
  ): Promise<Tally> => await tallies.of({ sinkName, pigeonholeNumber } as PlanningLane, { list, withheldFor });
  return { of, planned };
}

describe('the lists of a sink with 200 pigeonholes', () => {
  it('are planned until the time limit, and the remaining lists use the shares found so far', async () => {
    const { of, planned } = request();
    const tallies: Tally[] = [];
    for (let pigeonholeNumber = 1; pigeonholeNumber <= 200; pigeonholeNumber += 1)
      tallies.push(await of(pigeonholeNumber));
    expect(planned).toHaveLength(4);
    expect(tallies[0]).toMatchObject({ sent: 6, complete: true });
    const rest = tallies.slice(4);
    expect(rest).toHaveLength(196);
    for (const tally of rest) {
      expect(tally).toMatchObject({ given: 40, sent: 30, withheld: { condition: 8 }, complete: false });
    }
  });

  it('are planned once for each list and sink, even after the limit, because shares of another list say nothing', async () => {
    const { of, planned } = request();
    for (let pigeonholeNumber = 1; pigeonholeNumber <= 5; pigeonholeNumber += 1) await of(pigeonholeNumber);
    expect(await of(1, 'questions')).toMatchObject({ given: 10, complete: true });
    expect(await of(1, 'attendees', 'lms')).toMatchObject({ given: 10, complete: true });
    await of(2, 'questions');
    expect(planned.slice(4)).toEqual(['crm 1 questions', 'lms 1 attendees']);
  });

  it('do not share between all items and those that were withheld, because withheld items are another selection', async () => {
    const { of, planned } = request();
    for (let pigeonholeNumber = 1; pigeonholeNumber <= 5; pigeonholeNumber += 1) await of(pigeonholeNumber);
    expect(await of(1, 'attendees', 'crm', ['no-match'])).toMatchObject({ given: 10, complete: true });
    expect(await of(6)).toMatchObject({ given: 40, sent: 30 });
    expect(planned.slice(4)).toEqual(['crm 1 attendees no-match']);
  });
});
