import type { QuotaByDay } from '../../operations/quota-by-day.js';
import { counted, grouped } from '../../base/words.js';
import { useAsked } from '../asking/use-asked.js';
import { AwaitAnswer, type Column, Facts, PageHead, Panel, Table } from '../parts/panel.js';
import { Sections } from '../parts/sections.js';
import { StateWord } from '../parts/states.js';
import { Ago, Sentence } from '../parts/time.js';
import { serverNow } from '../asking/page-state.js';
import { address } from '../route.js';
import { capitalized } from '../words.js';

type Key = QuotaByDay['keys'][number];
type Day = Key['days'][number];

/** Shows the request quota of each key: what is left now, and what reading needs on each day to come. */
export function Quota() {
  const days = useAsked('/api/quota/days', {}, 60_000);
  return (
    <>
      <Sections current={address.quota} />
      <PageHead
        kind="Installation"
        title="Request quota"
        note={[
          'Forecast from the calendar of the events and the configured intervals. First reads of existing items, and imports, come on top.',
        ]}
      />
      <AwaitAnswer asked={days} lines={10}>
        {({ keys }) =>
          keys.length === 0 ? (
            <p class="empty">No workspace is configured: name one under "workspaces" in pigeonpost.yaml.</p>
          ) : (
            <>
              {keys.map((key) => (
                <OneKey key={key.workspaces.join(' ')} forecast={key} />
              ))}
            </>
          )
        }
      </AwaitAnswer>
    </>
  );
}

function OneKey({ forecast }: { readonly forecast: Key }) {
  const { workspaces, limit, usable, fits, advice, days } = forecast;
  const quotas = useAsked('/api/quota', {}, 10_000);
  const now = quotas.data?.workspaces.find(({ workspace }) => workspaces.includes(workspace))?.quota ?? null;
  const [first] = days;
  const tomorrow = days.find(({ day }) => day === dayIn(1));
  return (
    <Panel
      title={`${workspaces.length === 1 ? 'Workspace' : 'Workspaces'} ${workspaces.join(', ')}`}
      id={`quota-${workspaces[0]}`}
      aside={
        fits === null ? null : (
          <StateWord of={fits ? ['good', 'the quota suffices'] : ['bad', 'the quota is too small']} />
        )
      }
    >
      {advice === null ? null : (
        <p>
          <Sentence text={capitalized(advice)} />
        </p>
      )}
      <Facts
        facts={[
          [
            'Quota',
            limit === null ? 'not known' : `${grouped(limit)} a day`,
            usable === null ? 'the service does not report it' : `${grouped(usable)} for reading, the rest for imports`,
          ],
          now === null
            ? null
            : [
                'Left now',
                now.left === null ? 'not known' : grouped(now.left),
                now.resetAt === null ? `${grouped(now.used)} used` : ['resets ', <Ago at={now.resetAt} />],
              ],
          first === undefined ? null : ['Needed today', grouped(first.requests), ofQuota(first)],
          tomorrow === undefined ? null : ['Needed tomorrow', grouped(tomorrow.requests), ofQuota(tomorrow)],
        ]}
      />
      <Table
        columns={limit === null ? columns : [...columns, shareColumn]}
        rows={days}
        keyOf={({ day }) => day}
        isDim={({ pigeonholes }) => pigeonholes === 0}
      />
    </Panel>
  );
}

const dayMs = 86_400_000;

/** Returns the day in UTC, some days from now. */
function dayIn(days: number): string {
  return new Date(serverNow() + days * dayMs).toISOString().slice(0, 10);
}

function ofQuota({ share, pigeonholes }: Day): string {
  const events = pigeonholes === 0 ? 'no event' : counted(pigeonholes, 'event');
  return share === null ? events : `${events}, ${grouped(Math.ceil(share * 100))} % of the quota for reading`;
}

const columns: readonly Column<Day>[] = [
  ['Day (UTC)', 'name', ({ day }) => dayInWords(day)],
  ['Events', 'number', ({ pigeonholes }) => (pigeonholes === 0 ? '–' : grouped(pigeonholes))],
  ['Live lists', 'number mid', ({ live }) => grouped(live)],
  ['Other lists', 'number mid', ({ idle }) => grouped(idle)],
  ['Sweeps', 'number mid', ({ sweep }) => grouped(sweep)],
  ['Requests', 'number', ({ requests }) => grouped(requests)],
];

const shareColumn: Column<Day> = [
  'Of the quota for reading',
  'share',
  ({ share }) => (share === null ? null : <Share share={share} />),
];

function dayInWords(day: string): string {
  const words = new Date(`${day}T00:00:00Z`).toLocaleDateString([], {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    timeZone: 'UTC',
  });
  if (day === dayIn(0)) return `Today, ${words}`;
  return day === dayIn(1) ? `Tomorrow, ${words}` : words;
}

function Share({ share }: { readonly share: number }) {
  const percent = Math.ceil(share * 100);
  return (
    <span class={share > 1 ? 'share-of too-much' : 'share-of'}>
      <meter min={0} max={1} value={Math.min(1, share)} aria-label="Share of the quota" />
      {grouped(percent)} %
    </span>
  );
}
