import type { QuotaView } from '../../operations/status-view.js';
import { useAsked } from '../asking/use-asked.js';
import { counted, grouped } from '../words.js';
import { AwaitAnswer } from './await-answer.js';
import { Fact, Facts, Panel } from './panel.js';
import { Ago, Clock } from './time.js';

interface Quotas {
  readonly workspaces: readonly { readonly workspace: string; readonly quota: QuotaView | null }[];
}

/** The remaining quota of a workspace's key, and how long it lasts. */
export function QuotaPanel({ workspace }: { readonly workspace: string }) {
  const asked = useAsked<Quotas>('/api/quota', 5000);
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
  if (quota === null) return <p class="empty">No request has been made with its key yet.</p>;
  const { limit, used, left, reserved, resetAt, nextHour, lastsUntil, learnt } = quota;
  return (
    <>
      {limit === null ? null : (
        <div class="inside">
          <meter
            class="quota"
            min={0}
            max={limit}
            value={Math.min(used, limit)}
            aria-label={`${grouped(used)} of ${grouped(limit)} requests used`}
          />
        </div>
      )}
      <Facts>
        <Fact
          label="Used"
          note={limit === null ? 'the limit is not known' : `of ${grouped(limit)}${learnt ? ', as learnt' : ''}`}
        >
          {grouped(used)}
        </Fact>
        <Fact label="Left" note={`${grouped(reserved)} kept for imports`}>
          {left === null ? 'not known' : grouped(left)}
        </Fact>
        <Fact
          label="Needed within the hour"
          note={`${grouped(nextHour.live)} live, ${grouped(nextHour.idle)} idle, ${grouped(nextHour.sweep)} sweeps`}
        >
          {counted(nextHour.all, 'request')}
        </Fact>
        <Fact label="At that rate" note={lastsUntil === null ? undefined : 'then reading waits'}>
          {lastsUntil === null ? (
            left === null ? (
              'not known'
            ) : (
              'it lasts'
            )
          ) : (
            <>
              until <Clock at={lastsUntil} />
            </>
          )}
        </Fact>
        <Fact label="Window ends" note={resetAt === null ? 'the service does not say' : <Clock at={resetAt} />}>
          {resetAt === null ? 'not known' : <Ago at={resetAt} />}
        </Fact>
      </Facts>
    </>
  );
}
