import { useState } from 'preact/hooks';
import type { Decision, HeldDeletions } from '../../api/deletions.js';
import { carryOut, askPerson } from '../asking/act.js';
import { post } from '../asking/ask.js';
import { useMay } from '../asking/page-state.js';
import { useAsked } from '../asking/use-asked.js';
import { AwaitAnswer, PageHead, Panel } from '../parts/panel.js';
import { Button } from '../parts/controls.js';
import { Ago } from '../parts/time.js';
import { address } from '../route.js';
import { counted, grouped } from '../../base/words.js';

/** Deletions held for a decision because more items of a list disappeared within an hour than `deletions.holdAbove` allows. */
export function Deletions() {
  const asked = useAsked('/api/deletions', {});
  return (
    <>
      <PageHead
        kind="Deletions"
        title="Held until you decide"
        note={[
          'More items of a list disappeared within an hour than deletions.holdAbove allows, which may be a mistake in the service. Sinks are not notified until you confirm the deletion.',
        ]}
      />
      <AwaitAnswer asked={asked} lines={4}>
        {({ held }) =>
          held.length === 0 ? (
            <section class="panel" aria-label="Held deletions">
              <p class="empty">No deletions are held.</p>
            </section>
          ) : (
            held.map((each) => <Held key={each.id} held={each} />)
          )
        }
      </AwaitAnswer>
    </>
  );
}

function Held({ held }: { readonly held: HeldDeletions }) {
  const { id, workspace, pigeonholeId, list, foundAt, items, ofItems, sessions } = held;
  const [shown, setShown] = useState(false);
  const place = `${workspace}/${pigeonholeId}`;
  return (
    <Panel
      title={`${counted(items, 'item')} of ${list} in ${place}`}
      id={`held-${id}`}
      aside={
        <>
          found <Ago at={foundAt} />
        </>
      }
    >
      <div class="inside">
        <p>
          {grouped(items)} of {counted(ofItems, 'item')} in the list {items === 1 ? 'is' : 'are'} no longer in the
          service. <a href={address.pigeonhole(workspace, pigeonholeId)}>Show the pigeonhole</a>
        </p>
        {sessions.length === 0 ? null : (
          <ul class="counts">
            {sessions.map(({ sessionId, items: n }) => (
              <li key={sessionId}>
                {sessionId === null ? 'without a session' : `session ${sessionId}`}: {grouped(n)}
              </li>
            ))}
          </ul>
        )}
        <div class="actions">
          <button type="button" aria-expanded={shown} onClick={() => setShown(!shown)}>
            {`${shown ? 'Hide' : 'Show'} the ${items === 1 ? 'item' : 'items'}`}
          </button>
          <Decide held={held} />
        </div>
        {shown ? <Keys id={id} list={list} place={place} /> : null}
      </div>
    </Panel>
  );
}

function Decide({ held: { id, items, list, workspace, pigeonholeId } }: { readonly held: HeldDeletions }) {
  if (!useMay('operate')) return null;
  const them = items === 1 ? 'it' : 'them';
  const decide = async (decision: Decision['decision']): Promise<void> => {
    const confirmed = decision === 'confirmed';
    const given = await askPerson({
      title: confirmed ? `Delete ${counted(items, 'item')}?` : `Keep ${counted(items, 'item')}?`,
      body: confirmed
        ? `pigeonpost notifies every sink of the deletion of ${counted(items, 'item')} of ${list} in ${workspace}/${pigeonholeId}.`
        : `${items === 1 ? 'The item stays as it is' : 'The items stay as they are'}, and no sink is notified.`,
      confirm: `${confirmed ? 'Delete' : 'Keep'} ${them}`,
      grave: confirmed,
    });
    if (given === null) return;
    await carryOut(
      () => post('/api/deletions/{id}', { params: { id }, json: { decision, items } }),
      () => (confirmed ? `${counted(items, 'item')} deleted` : `${counted(items, 'item')} kept`),
    );
  };
  return (
    <>
      <Button look="main" onPress={() => decide('rejected')}>
        Keep {them}…
      </Button>
      <Button look="grave" onPress={() => decide('confirmed')}>
        Delete {them}…
      </Button>
    </>
  );
}

const maxKeys = 500;

function Keys({ id, list, place }: { readonly id: number; readonly list: string; readonly place: string }) {
  const asked = useAsked('/api/deletions/{id}', { params: { id } }, 10_000);
  return (
    <AwaitAnswer asked={asked} lines={2}>
      {({ keys = [] }) => (
        <p class="keys">
          {keys.slice(0, maxKeys).map((key) => (
            <a key={key} href={address.item(list, key, place)}>
              {key}
            </a>
          ))}
          {keys.length > maxKeys ? <span class="dim">and {grouped(keys.length - maxKeys)} more</span> : null}
        </p>
      )}
    </AwaitAnswer>
  );
}
