import { useState } from 'preact/hooks';
import type { Decision, HeldDeletions } from '../../api/deletions.js';
import { carryOut, askPerson } from '../asking/act.js';
import { get, post } from '../asking/ask.js';
import { useOnce } from '../asking/use-once.js';
import { useMay } from '../asking/page-state.js';
import { useAsked } from '../asking/use-asked.js';
import { AwaitAnswer, PageHead, Panel } from '../parts/panel.js';
import { Button, PersonalCheck } from '../parts/controls.js';
import { Ago } from '../parts/time.js';
import { address } from '../route.js';
import { nameInWords } from '../../base/item-titles.js';
import { capitalized } from '../words.js';
import { groupBy } from '../../base/grouping.js';
import { counted, grouped } from '../../base/words.js';

/** Deletions held for a decision because unusually many items disappeared. One panel for each pigeonhole. */
export function Deletions() {
  const asked = useAsked('/api/deletions', {});
  return (
    <>
      <PageHead
        kind="Deletions"
        title="Held until you decide"
        note={[
          'Unusually many items disappeared, which may be a mistake in the service. Sinks are not notified until you confirm the deletion.',
        ]}
      />
      <AwaitAnswer asked={asked} lines={4}>
        {({ held }) => (held.length === 0 ? <NothingHeld /> : <AllHeld held={held} />)}
      </AwaitAnswer>
    </>
  );
}

function NothingHeld() {
  return (
    <section class="panel" aria-label="Held deletions">
      <p class="empty">No deletions are held.</p>
    </section>
  );
}

type Held = readonly HeldDeletions[];

function AllHeld({ held }: { readonly held: Held }) {
  const events = [...groupBy(held, ({ workspace, pigeonholeId }) => `${workspace}/${pigeonholeId}`)];
  return (
    <>
      {events.length < 2 ? null : (
        <Panel title={`${counted(itemsOf(held), 'item')} in ${events.length} events`} id="held-all">
          <div class="inside">
            <Decide held={held} what="in all events" scope={{}} />
          </div>
        </Panel>
      )}
      {events.map(([place, own]) => (
        <EventHeld key={place} place={place} held={own} />
      ))}
    </>
  );
}

function EventHeld({ place, held }: { readonly place: string; readonly held: Held }) {
  const { workspace, pigeonholeId } = held[0]!;
  const lists = [...groupBy(held, ({ list }) => list)];
  const items = itemsOf(held);
  const of = lists.length === 1 ? `of ${lists[0]![0]}` : `of ${lists.length} lists`;
  const scope = { workspace, pigeonholeId };
  const where = held[0]!.event ?? place;
  return (
    <Panel title={`${counted(items, 'item')} ${of} in ${where}`} id={`held-${workspace}-${pigeonholeId}`}>
      <div class="inside">
        <p>
          {items === 1 ? 'The item is' : 'The items are'} no longer in the service.{' '}
          <a href={address.pigeonhole(workspace, pigeonholeId)}>Show the event</a> <small>{place}</small>
        </p>
        {lists.length < 2 ? null : <Decide held={held} what={`in ${where}`} scope={scope} />}
      </div>
      <ul class="held">
        {lists.map(([list, own]) => (
          <ListHeld key={list} list={list} held={own} place={place} />
        ))}
      </ul>
    </Panel>
  );
}

/** The held deletions of one list. They are several if its items disappeared at several times. */
function ListHeld({ list, held, place }: { readonly list: string; readonly held: Held; readonly place: string }) {
  const [shown, setShown] = useState(false);
  const { workspace, pigeonholeId, foundAt, event } = held[0]!;
  const items = itemsOf(held);
  const ofItems = Math.max(items, ...held.map((each) => each.ofItems));
  const bySession = groupBy(
    held.flatMap(({ sessions }) => sessions),
    ({ sessionId }) => sessionId,
  );
  const sessions = [...bySession].map(([sessionId, counts]) => {
    const n = counts.reduce((sum, count) => sum + count.items, 0);
    const title = counts[0]!.title ?? `session ${sessionId}`;
    return `${sessionId === null ? 'without a session' : title}: ${grouped(n)}`;
  });
  return (
    <li>
      <div class="held-what">
        <h3>{list}</h3>
        <p>
          {items >= ofItems ? `all ${counted(ofItems, 'item')}` : `${grouped(items)} of ${counted(ofItems, 'item')}`},
          found <Ago at={foundAt} />
        </p>
        {sessions.length === 0 || (sessions.length === 1 && bySession.has(null)) ? null : (
          <p class="dim">{sessions.join(' · ')}</p>
        )}
      </div>
      <div class="actions">
        <button type="button" aria-expanded={shown} onClick={() => setShown(!shown)}>
          {`${shown ? 'Hide' : 'Show'} the ${items === 1 ? 'item' : 'items'}`}
        </button>
        <Decide held={held} what={`of ${list} in ${event ?? place}`} scope={{ workspace, pigeonholeId, list }} />
      </div>
      {shown ? held.map(({ id }) => <HeldItems key={id} id={id} list={list} place={place} />) : null}
    </li>
  );
}

function itemsOf(held: Held): number {
  return held.reduce((sum, { items }) => sum + items, 0);
}

interface DecideProps {
  /** The held deletions of the scope. */
  readonly held: Held;
  /** The place of the items, for a sentence: `of votes in acme/101`. */
  readonly what: string;
  readonly scope: Partial<Pick<HeldDeletions, 'workspace' | 'pigeonholeId' | 'list'>>;
}

/** The buttons that decide about all held deletions of a scope. */
function Decide({ held, what, scope }: DecideProps) {
  if (!useMay('operate')) return null;
  const items = itemsOf(held);
  const isSeveral = scope.list === undefined;
  const them = isSeveral ? `all ${grouped(items)}` : items === 1 ? 'it' : 'them';
  const decide = async (decision: Decision['decision']): Promise<void> => {
    const confirmed = decision === 'confirmed';
    const given = await askPerson({
      title: confirmed ? `Delete ${counted(items, 'item')}?` : `Keep ${counted(items, 'item')}?`,
      body: confirmed
        ? `pigeonpost notifies every sink of the deletion of ${counted(items, 'item')} ${what}.`
        : `${items === 1 ? 'The item stays as it is' : 'The items stay as they are'}, and no sink is notified.`,
      confirm: `${confirmed ? 'Delete' : 'Keep'} ${them}`,
      grave: confirmed,
    });
    if (given === null) return;
    await carryOut(
      () => post('/api/deletions', { json: { decision, items, ...scope } }),
      (done) => `${counted(done.items, 'item')} ${confirmed ? 'deleted' : 'kept'}`,
    );
  };
  const buttons = (
    <>
      <Button look="main" onPress={() => decide('rejected')}>
        Keep {them}…
      </Button>
      <Button look="grave" onPress={() => decide('confirmed')}>
        Delete {them}…
      </Button>
    </>
  );
  return isSeveral ? <div class="actions">{buttons}</div> : buttons;
}

/** The items of a held deletion by name; with names and texts of people only on request, which is audited. */
function HeldItems({ id, list, place }: { readonly id: number; readonly list: string; readonly place: string }) {
  const [personal, setPersonal] = useState(false);
  const asked = useOnce(`${id} ${personal}`, async () =>
    get('/api/deletions/{id}', { params: { id }, query: personal ? { personal: '1' } : {} }),
  );
  return (
    <div>
      <PersonalCheck checked={personal} onCheck={setPersonal} />
      <AwaitAnswer asked={asked} lines={2}>
        {({ keys = [], names = [] }) => (
          <>
            <ul class="list">
              {names.map((name, at) => (
                <li key={keys[at]}>
                  <a class="item-name" href={address.item(list, keys[at]!, place)}>
                    {capitalized(nameInWords(name))}
                  </a>{' '}
                  <small>
                    {name.person === null ? '' : `${name.person} · `}
                    {list}:{keys[at]}
                  </small>
                </li>
              ))}
            </ul>
            {keys.length > names.length ? <p class="dim">and {grouped(keys.length - names.length)} more</p> : null}
          </>
        )}
      </AwaitAnswer>
    </div>
  );
}
