import type { FreshnessSummary, FreshnessView } from '../../operations/freshness.js';
import { readNotes, waitWords } from '../../base/reading-words.js';
import { counted, grouped } from '../../base/words.js';
import { Ago, Sentence, Until, Clock } from './time.js';
import { Table, Facts, AskedPanel } from './panel.js';
import type { QuotaView } from '../../operations/status-view.js';
import { useAsked } from '../asking/use-asked.js';
import type { ComponentChildren } from 'preact';

/** "3 s ago" above "next in 2 s", or above the number of late lists and the reason why nothing can be read now. */
export function ReadAge({ freshness }: { readonly freshness: FreshnessSummary }) {
  const { late, waits, nextAt } = readNotes(freshness);
  return (
    <>
      <Ago at={freshness.readAt} never="not read yet" />{' '}
      {late === null ? null : <small class="below bad">{late}</small>}{' '}
      {waits === null ? null : (
        <small class="below">
          <Sentence text={waitWords(waits)} />
        </small>
      )}
      {nextAt === null ? null : (
        <small class="below">
          next <Until at={nextAt} />
        </small>
      )}
    </>
  );
}

/** The polling intervals in force with their reasons, and the list that is most overdue. */
export function Cadences({ freshness }: { readonly freshness: FreshnessView }) {
  return (
    <>
      {freshness.late === null ? null : <p class="bad inside late">Late: {freshness.late}</p>}
      <Table
        columns={[
          ['Lists', 'name', ({ lists }) => counted(lists, 'list')],
          ['Current polling interval', '', ({ cadence }) => cadence],
          ['Read', 'number', ({ readAt }) => <Ago at={readAt} never="not yet" />],
          ['Next', 'number mid', ({ nextAt }) => <Until at={nextAt} />],
        ]}
        rows={freshness.groups}
        keyOf={({ reason }) => String(reason)}
      />
    </>
  );
}

/** The remaining quota of a workspace's API key, and how long it lasts. */
export function QuotaPanel({ workspace }: { readonly workspace: string }) {
  const asked = useAsked('/api/quota', {}, 5000);
  return (
    <AskedPanel title={`Request quota of ${workspace}`} id="quota" asked={asked} lines={3}>
      {({ workspaces }) => <Forecast quota={workspaces.find((each) => each.workspace === workspace)?.quota ?? null} />}
    </AskedPanel>
  );
}

function Forecast({ quota }: { readonly quota: QuotaView | null }) {
  if (quota === null) return <p class="empty">pigeonpost has not sent a request with this workspace's API key yet.</p>;
  const { limit, used, usedByAll, left, reserved, resetAt, nextHour, lengthens } = quota;
  return (
    <>
      {limit === null ? null : (
        <div class="inside">
          <meter
            min={0}
            max={limit}
            value={Math.min(usedByAll, limit)}
            aria-label={`${grouped(usedByAll)} of ${counted(limit, 'request')} used`}
          />
        </div>
      )}
      <Facts
        facts={[
          [
            'Used',
            grouped(usedByAll),
            [
              limit === null ? 'limit unknown' : `of ${grouped(limit)}`,
              ...(usedByAll === used ? [] : [`${grouped(used)} by pigeonpost`]),
            ].join('; '),
          ],
          ['Left', left === null ? 'unknown' : grouped(left), `${grouped(reserved)} reserved for imports`],
          [
            'Needed in the next hour',
            counted(nextHour.all, 'request'),
            `${grouped(nextHour.live)} live, ${grouped(nextHour.idle)} idle, ${grouped(nextHour.sweep)} sweeps`,
          ],
          ['Lasts', lasts(quota), isLengthened(lengthens) ? 'at lengthened intervals' : null],
          [
            'Window ends',
            resetAt === null ? 'unknown' : <Ago at={resetAt} />,
            resetAt === null ? 'not reported by the service' : <Clock at={resetAt} />,
          ],
        ]}
      />
    </>
  );
}

/** Whether intervals are lengthened so that the quota lasts. */
function isLengthened({ live, idle, sweep }: QuotaView['lengthens']): boolean {
  return Math.max(live, idle, sweep) > 1;
}

/** Says how long the quota lasts. */
function lasts({ lastsUntil, left, reserved, nextHour }: QuotaView): ComponentChildren {
  if (lastsUntil !== null) return ['until ', <Clock at={lastsUntil} />];
  if (left === null) return 'unknown';
  return left <= reserved && nextHour.all > 0 ? 'used up' : 'until the window ends';
}
