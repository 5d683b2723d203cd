import { type PlanningLane, SharedTallies, type Tally } from './count-deliverable.js';

/** Creates a request with a time limit of 2 s, in which planning a list takes 600 ms. */
function request() {
  let now = 0;
  const planned: string[] = [];
  const tallies = new SharedTallies(
    { items: 1000, ms: 500 },
    2000,
    async ({ sinkName, ref }, { list, withheldFor }) => {
      now += 600;
      planned.push([sinkName, ref, list, ...(withheldFor ?? [])].join(' '));
      return { given: 10, sent: ref === 1 ? 6 : 8, withheld: { condition: 2 }, failed: 0, complete: true };
    },
    () => now,
  );
  const of = async (
    ref: number,
    list = 'attendees',
    sinkName = 'crm',
    withheldFor: string[] | null = null,
  ): Promise<Tally> => await tallies.of({ sinkName, ref } as PlanningLane, { list, withheldFor });
  return { of, planned };
}

describe('the lists of a sink with 200 pigeonholes', () => {
  it('are planned until the time limit, and the remaining lists use the shares found so far', async () => {
    const { of, planned } = request();
    const tallies: Tally[] = [];
    for (let ref = 1; ref <= 200; ref += 1) tallies.push(await of(ref));
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
    for (let ref = 1; ref <= 5; ref += 1) await of(ref);
    expect(await of(1, 'questions')).toMatchObject({ given: 10, complete: true });
    expect(await of(1, 'attendees', 'lms')).toMatchObject({ given: 10, complete: true });
    await of(2, 'questions');
    expect(planned.slice(4)).toEqual(['crm 1 questions', 'lms 1 attendees']);
  });

  it('do not share between all items and those that were withheld, because withheld items are another selection', async () => {
    const { of, planned } = request();
    for (let ref = 1; ref <= 5; ref += 1) await of(ref);
    expect(await of(1, 'attendees', 'crm', ['no-match'])).toMatchObject({ given: 10, complete: true });
    expect(await of(6)).toMatchObject({ given: 40, sent: 30 });
    expect(planned.slice(4)).toEqual(['crm 1 attendees no-match']);
  });
});
