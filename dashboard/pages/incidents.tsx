import type { IncidentView } from '../../api/incidents.js';
import { counted, formatSpan } from '../../base/words.js';
import { useAsked, useParts } from '../asking/use-asked.js';
import { ShowMore } from '../parts/controls.js';
import { AskedPanel, PageHead, Panel, AwaitAnswer } from '../parts/panel.js';
import { Clock, For, Sentence } from '../parts/time.js';
import { labelOf } from '../words.js';

/** Shows the problems of the last 30 days, each as one entry: what lasts, and what has ended. */
export function Incidents() {
  const open = useAsked('/api/incidents', { query: { state: 'open', limit: 500 } });
  const { asked: ended, showMore } = useParts('/api/incidents', { query: { state: 'ended' } }, 50);
  const count = open.data?.items.length;
  return (
    <>
      <PageHead
        kind="Incidents"
        title={count === undefined ? 'Incidents' : count === 0 ? 'No open incidents' : counted(count, 'open incident')}
        note={['Each problem is one entry, from its start to its end. Ended ones are kept for 30 days.']}
      />
      {count === 0 ? null : (
        <Panel title="Open" id="open">
          <AwaitAnswer asked={open} lines={3}>
            {({ items }) => <List incidents={items} />}
          </AwaitAnswer>
        </Panel>
      )}
      <AskedPanel title="Ended" id="ended" asked={ended} lines={4}>
        {({ items, next }) =>
          items.length === 0 ? (
            <p class="empty">No incident has ended in the last 30 days.</p>
          ) : (
            <>
              <List incidents={items} />
              {next === null ? null : <ShowMore onPress={showMore} />}
            </>
          )
        }
      </AskedPanel>
    </>
  );
}

function List({ incidents }: { readonly incidents: readonly IncidentView[] }) {
  return (
    <ol class="incidents">
      {incidents.map((incident) => (
        <Entry key={incident.number} incident={incident} />
      ))}
    </ol>
  );
}

function Entry({ incident }: { readonly incident: IncidentView }) {
  const { severity, since, endedAt, title, says, advice, page, returns } = incident;
  const isOpen = endedAt === null;
  return (
    <li class={isOpen ? severity : 'over'}>
      <p>
        <strong>{labelOf({ ...incident, state: null })}</strong> <Sentence text={`${title}.`} />
      </p>
      <dl class="explained">
        <dt>Since</dt>
        <dd>
          <Clock at={since} />
          {isOpen ? (
            <>
              , for <For since={since} />
            </>
          ) : (
            <>
              {' '}
              until <Clock at={endedAt} />, {formatSpan((Date.parse(endedAt) - Date.parse(since)) / 1000)}
            </>
          )}
          {returns === 0 ? null : `; returned ${returns === 1 ? 'once' : `${returns} times`} after a short time`}
        </dd>
        {says === null ? null : (
          <>
            <dt>Effect</dt>
            <dd>
              <Sentence text={says} />
            </dd>
          </>
        )}
        {advice === null ? null : (
          <>
            <dt>What helps</dt>
            <dd>
              <Sentence text={advice} />
            </dd>
          </>
        )}
        <dt>Notified</dt>
        <dd>
          <Notified notified={incident.notified} />
        </dd>
      </dl>
      {page === null ? null : (
        <a class="button" href={page}>
          {isOpen ? 'Details' : 'Show its page'}
        </a>
      )}
    </li>
  );
}

function Notified({ notified }: { readonly notified: IncidentView['notified'] }) {
  if (notified.length === 0) return <span class="dim">nobody</span>;
  return (
    <>
      {notified.map(({ receiver, kind, at }, position) => (
        <span key={`${receiver} ${kind} ${at}`}>
          {position === 0 ? '' : '; '}
          {receiver ?? 'a receiver that is no longer configured'}
          {kind === 'recovered' ? ' of its end' : ''} at <Clock at={at} />
        </span>
      ))}
    </>
  );
}
