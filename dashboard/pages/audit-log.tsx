import type { AuditEntryView } from '../../api/audit-log.js';
import { useAddressFilter } from '../asking/address-filter.js';
import { useParts } from '../asking/use-asked.js';
import { Button, CommittedInput, ShowMore } from '../parts/controls.js';
import { AskedPanel, type Column, PageHead, Table } from '../parts/panel.js';
import { Sections } from '../parts/sections.js';
import { StateWord } from '../parts/states.js';
import { Clock } from '../parts/time.js';
import { address } from '../route.js';
import type { ToneAndWord } from '../words.js';

const atOnce = 50;
const filters = ['who', 'action', 'target', 'from', 'until'] as const;

/** Shows who requested what, and the result, newest first. */
export function AuditLog() {
  const [filter, change] = useAddressFilter(filters);
  const { who, action, target, from, until } = filter;
  const { asked, showMore } = useParts(
    '/api/audit',
    {
      query: {
        who: who || undefined,
        action: action || undefined,
        target: target || undefined,
        from: instantOf(from),
        until: instantOf(until),
      },
    },
    atOnce,
  );
  const isFiltered = filters.some((name) => filter[name] !== '');
  return (
    <>
      <Sections current={address.auditLog} />
      <PageHead
        kind="Installation"
        title="Audit log"
        note={[
          'Every action of an operator, and every request that showed people. Entries are never changed or removed.',
        ]}
      />
      <AskedPanel
        title="Requests"
        id="requests"
        asked={asked}
        lines={8}
        aside={() =>
          isFiltered ? (
            <Button look="link" onPress={() => change({ who: '', action: '', target: '', from: '', until: '' })}>
              Clear filters
            </Button>
          ) : (
            'newest first'
          )
        }
      >
        {({ items, next }) => (
          <>
            <div class="filters">
              <label>
                Who
                <CommittedInput value={who} onCommit={(text) => change({ who: text })} list="known-who" finds />
              </label>
              <label>
                Action
                <CommittedInput value={action} onCommit={(text) => change({ action: text })} list="known-actions" />
              </label>
              <label>
                Of
                <CommittedInput value={target} onCommit={(text) => change({ target: text })} list="known-targets" />
              </label>
              <Moment label="From" value={from} onMoment={(text) => change({ from: text })} />
              <Moment label="Until" value={until} onMoment={(text) => change({ until: text })} />
            </div>
            <Suggestions id="known-who" of={items.map((each) => each.who)} />
            <Suggestions id="known-actions" of={items.map((each) => each.action)} />
            <Suggestions id="known-targets" of={items.flatMap((each) => each.target ?? [])} />
            <Table
              columns={columns}
              rows={items}
              keyOf={({ number }) => number}
              empty={isFiltered ? 'No request matches these filters.' : 'No requests are recorded yet.'}
            />
            {next === null ? null : <ShowMore onPress={showMore} />}
          </>
        )}
      </AskedPanel>
    </>
  );
}

interface MomentProps {
  readonly label: string;
  readonly value: string;
  readonly onMoment: (value: string) => void;
}

/** A field for an instant in the reader's time zone. */
function Moment({ label, value, onMoment }: MomentProps) {
  return (
    <label>
      {label}
      <input type="datetime-local" value={value} onChange={(event) => onMoment(event.currentTarget.value)} />
    </label>
  );
}

/** Returns the instant of a field; undefined if it is empty or incomplete. */
function instantOf(local: string): string | undefined {
  const at = new Date(local);
  return local === '' || Number.isNaN(at.getTime()) || at.getFullYear() < 1000 ? undefined : at.toISOString();
}

function Suggestions({ id, of }: { readonly id: string; readonly of: readonly string[] }) {
  return (
    <datalist id={id}>
      {[...new Set(of)].toSorted().map((text) => (
        <option key={text} value={text} />
      ))}
    </datalist>
  );
}

const outcomes: Readonly<Record<NonNullable<AuditEntryView['outcome']>, ToneAndWord>> = {
  done: ['good', 'done'],
  refused: ['warning', 'refused'],
  failed: ['bad', 'failed'],
};

const columns: readonly Column<AuditEntryView>[] = [
  ['At', '', ({ at }) => <Clock at={at} />],
  ['Who', 'name', ({ who }) => who],
  [
    'Action',
    '',
    ({ action, detail }) => {
      const facts = Object.entries(detail).filter(([, value]) => value !== null && value !== '');
      return (
        <>
          {action}
          {facts.length === 0 ? null : (
            <small class="below">{facts.map(([name, value]) => `${name}: ${value}`).join(' · ')}</small>
          )}
        </>
      );
    },
  ],
  ['Of', 'mid', ({ target }) => target ?? <span class="dim">the installation</span>],
  [
    'Result',
    '',
    ({ outcome, status }) =>
      outcome === null ? (
        <StateWord of={['quiet', 'not known']} />
      ) : (
        <>
          <StateWord of={outcomes[outcome]} />
          {status !== null && status >= 400 ? <small> HTTP {status}</small> : null}
        </>
      ),
  ],
];
