import type { PigeonholeDetails } from '../../api/pigeonholes.js';
import { useAllParts } from '../asking/use-asked.js';
import { useRemembered } from '../asking/page-state.js';
import { filterPigeonholes, noFilter, orders, type PigeonholeFilter } from '../filter-pigeonholes.js';
import { address } from '../route.js';
import { counted, grouped } from '../../base/words.js';
import { AwaitAnswer, Panel, Table, MinutesChart, perMinute, type Column, named } from './panel.js';
import { listLink } from './list-link.js';
import { ReadAge } from './reading.js';
import { Choice } from './controls.js';
import { useFirst } from './first-rows.js';
import { stateChoices, pigeonholeState } from '../words.js';
import { StateWord } from './states.js';

/**
 * Shows the pigeonholes that pigeonpost reads, those with problems first. It has a search field, because there may be
 * hundreds.
 */
export function PigeonholeTable({ workspace }: { readonly workspace?: string }) {
  const asked = useAllParts('/api/pigeonholes', { query: { workspace } }, 5000);
  const [filter, setFilter] = useRemembered<PigeonholeFilter>(`pigeonholes ${workspace ?? ''}`, noFilter);
  const found = filterPigeonholes(asked.data ?? [], { ...noFilter, ...filter });
  const { rows, more } = useFirst(found, JSON.stringify(filter));
  const aside = asked.data === undefined ? undefined : countInWords(found, asked.data);
  return (
    <Panel title="Pigeonholes" id="pigeonholes" aside={<span aria-live="polite">{aside}</span>}>
      <Filters all={asked.data ?? []} filter={filter} onFilter={setFilter} />
      <AwaitAnswer asked={asked} lines={6}>
        {() => (
          <>
            <Table
              look="pigeonholes"
              columns={columns}
              rows={rows}
              keyOf={({ workspace, id }) => `${workspace}/${id}`}
              empty="No pigeonhole matches."
            />
            {more}
          </>
        )}
      </AwaitAnswer>
    </Panel>
  );
}

/**
 * Returns the number of pigeonholes as text. It does not count the workspace's own lists, which the API returns as a
 * pigeonhole with the ID 0.
 */
function countInWords(found: readonly PigeonholeDetails[], all: readonly PigeonholeDetails[]): string {
  const [shown, whole] = [found, all].map((each) => each.filter(({ id }) => id !== 0).length) as [number, number];
  return shown === whole ? counted(whole, 'pigeonhole') : `${grouped(shown)} of ${counted(whole, 'pigeonhole')}`;
}

interface FiltersProps {
  readonly all: readonly PigeonholeDetails[];
  readonly filter: PigeonholeFilter;
  readonly onFilter: (filter: PigeonholeFilter) => void;
}

function Filters({ all, filter, onFilter }: FiltersProps) {
  const syncs = [...new Set(all.flatMap((each) => each.syncs))].toSorted();
  const statuses = [...new Set(all.flatMap(({ status }) => (status === null ? [] : [status])))].toSorted();
  return (
    <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
      <input
        type="search"
        aria-label="Find pigeonholes by name or ID"
        placeholder="Name or ID"
        data-finds
        value={filter.text}
        onInput={(event) => onFilter({ ...filter, text: event.currentTarget.value })}
      />
      <Choice label="State" value={filter.state} onChoose={(state) => onFilter({ ...filter, state })}>
        {[['', 'any state'], ['trouble', 'with problems'], ...stateChoices]}
      </Choice>
      <Choice
        label="Status in the service"
        value={filter.status}
        onChoose={(status) => onFilter({ ...filter, status })}
      >
        {[['', 'any status'], ...statuses.map((status): [string, string] => [status, status])]}
      </Choice>
      <Choice label="Order" value={filter.order} onChoose={(order) => onFilter({ ...filter, order })}>
        {[
          ['', 'problems first'],
          ...Object.entries(orders).map(([order, [label]]): [string, string] => [order, label]),
        ]}
      </Choice>
      {syncs.length < 2 ? null : (
        <Choice label="Sync" value={filter.sync} onChoose={(sync) => onFilter({ ...filter, sync })}>
          {[['', 'any sync'], ...syncs.map((sync): [string, string] => [sync, sync])]}
        </Choice>
      )}
    </form>
  );
}

const columns: readonly Column<PigeonholeDetails>[] = [
  [
    'Pigeonhole',
    'name',
    ({ workspace, id, name }) => {
      const words = id === 0 ? `Lists of ${workspace}` : (name ?? `Pigeonhole ${id}`);
      return named(
        <a href={address.pigeonhole(workspace, id)}>{words}</a>,
        id === 0 ? workspace : `${workspace}/${id}`,
      );
    },
  ],
  ['State', '', (each) => <StateWord of={pigeonholeState(each)} />],
  ['Status', 'wide', ({ status }) => status ?? '–'],
  ['Read', 'number', ({ freshness }) => <ReadAge freshness={freshness} />],
  [
    'Changes',
    'number wide',
    ({ workspace, id, changes }) => listLink(changes, address.live({ list: null, pigeonhole: `${workspace}/${id}` })),
  ],
  ['Per minute', 'number mid', ({ foundByMinute }) => grouped(perMinute(foundByMinute))],
  [
    'Last hour',
    'chart wide',
    ({ workspace, id, foundByMinute }) => (
      <MinutesChart minutes={foundByMinute} of={`changes found in ${workspace}/${id}`} />
    ),
  ],
];
