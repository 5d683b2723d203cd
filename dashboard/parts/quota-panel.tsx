import type { QuotaView } from '../../operations/status-view.js';
import { useAsked } from '../asking/use-asked.js';
import { counted, grouped } from '../../base/words.js';
import { AwaitAnswer, Fact, Facts, Panel } from './panel.js';
import { Ago, Clock } from './time.js';

/** The remaining quota of a workspace's API key, and how long it lasts. */
export function QuotaPanel({ workspace }: { readonly workspace: string }) {
  const asked = useAsked('/api/quota', {}, 5000);
  return (
    <Panel title={`Request quota of ${workspace}`} id="quota">
      <AwaitAnswer asked={asked} lines={3}>
        {({ workspaces }) => (
          <Forecast quota={workspaces.find((each) => each.workspace === workspace)?.quota ?? null} />
        )}
      </AwaitAnswer>
    </Panel>
  );
}

function Forecast({ quota }: { readonly quota: QuotaView | null }) {
  if (quota === null) return <p class="empty">pigeonpost has not sent a request with this workspace's API key yet.</p>;
  const { limit, used, usedByAll, left, reserved, resetAt, nextHour, lastsUntil, learnt } = quota;
  return (
    <>
      {limit === null ? null : (
        <div class="inside">
          <meter
            class="quota"
            min={0}
            max={limit}
            value={Math.min(usedByAll, limit)}
            aria-label={`${grouped(usedByAll)} of ${grouped(limit)} requests used`}
          />
        </div>
      )}
      <Facts>
        <Fact
          label="Used"
          note={[
            limit === null ? 'limit unknown' : `of ${grouped(limit)}${learnt ? ', learned from a refusal' : ''}`,
            ...(usedByAll === used ? [] : [`${grouped(used)} by pigeonpost`]),
          ].join('; ')}
        >
          {grouped(usedByAll)}
        </Fact>
        <Fact label="Left" note={`${grouped(reserved)} reserved for imports`}>
          {left === null ? 'unknown' : grouped(left)}
        </Fact>
        <Fact
          label="Needed in the next hour"
          note={`${grouped(nextHour.live)} live, ${grouped(nextHour.idle)} idle, ${grouped(nextHour.sweep)} sweeps`}
        >
          {counted(nextHour.all, 'request')}
        </Fact>
        <Fact label="Lasts" note={lastsUntil === null ? undefined : 'at the configured intervals'}>
          {lastsUntil === null ? (
            left === null ? (
              'unknown'
            ) : left <= reserved && nextHour.all > 0 ? (
              'used up'
            ) : (
              'until the window ends'
            )
          ) : (
            <>
              until <Clock at={lastsUntil} />
            </>
          )}
        </Fact>
        <Fact label="Window ends" note={resetAt === null ? 'not reported by the service' : <Clock at={resetAt} />}>
          {resetAt === null ? 'unknown' : <Ago at={resetAt} />}
        </Fact>
      </Facts>
    </>
  );
}
