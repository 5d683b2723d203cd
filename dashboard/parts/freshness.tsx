import type { FreshnessSummary, FreshnessView } from '../../operations/freshness.js';
import { readNotes, waitWords } from '../../base/reading-words.js';
import { counted } from '../../base/words.js';
import { Ago, Sentence, Until } from './time.js';
import { Table } from './panel.js';

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
        look="cadences"
        columns={{ Lists: '', 'Current polling interval': '', Read: 'number', Next: 'number mid' }}
      >
        {freshness.groups.map(({ reason, lists, cadence, readAt, nextAt }) => (
          <tr key={reason}>
            <th scope="row">{counted(lists, 'list')}</th>
            <td>{cadence}</td>
            <td class="number">
              <Ago at={readAt} never="not yet" />
            </td>
            <td class="number mid">
              <Until at={nextAt} />
            </td>
          </tr>
        ))}
      </Table>
    </>
  );
}
