import { pigeonholeLists } from '../../base/lists.js';
import { kinds } from '../kit/scenario-kinds.js';
import { archive, pigeonhole, useStages } from '../kit/stage.js';
import { makeStatement } from '../kit/statement.js';
import { truthOf } from '../kit/truth.js';
import { formatPlan, type Weighed, weighedDatabase } from '../kit/weighed-database.js';

/** The source of a list is compared in one statement, which may read each of its items a few times. */
const maxRows = 250_000;

const stages = useStages();

describe.each(kinds)('the statement of an event with 20,000 people, on %s,', (kind) => {
  it("adds up, agrees with the service's own data, and needs no long statement of the store", async () => {
    const stage = await stages.open(kind, { attendees: 20_000, sessions: 12, questions: 600 });
    const heavy: Weighed[] = [];
    let isCounting = false;
    const db = weighedDatabase(stage.db, (weighed) => {
      if (isCounting && weighed.rows > maxRows) heavy.push(weighed);
    });
    const scene = await stage.scene({ store: db, sinks: { archive: '{ type: file, folder: ./archive }' } });
    await scene.settle();
    isCounting = true;

    const { statement } = await makeStatement(scene);
    expect(statement).toMatchObject({ agrees: true, open: [] });
    const lines = archive(scene);
    let items = 0;
    for (const list of pigeonholeLists) {
      const truth = await truthOf(stage.sandbox.baseUrl, list, pigeonhole);
      const { shown, held, differences } = statement.source.lists.find((each) => each.list === list)!;
      expect([list, shown, held, differences]).toEqual([list, truth.length, truth.length, []]);
      items += truth.length;
      const at = statement.destinations[0]!.lists.find((each) => each.list === list)!;
      const refused = list === 'attendees' ? truth.filter(hasRefused).length : 0;
      const written = new Set(lines.filter((line) => line.list === list).map(({ key }) => key)).size;
      expect([list, at.items, at.delivered, at.withheld]).toEqual([list, truth.length, written, refused]);
    }
    expect(statement.source).toMatchObject({ shown: items, held: items });
    expect(heavy.map(({ sql, rows, plan }) => `${rows} rows:\n${sql}\n${formatPlan(plan)}`)).toEqual([]);
  });
});

function hasRefused({ consent }: Readonly<Record<string, unknown>>): boolean {
  return (consent as { obtained?: boolean } | null)?.obtained === false;
}
