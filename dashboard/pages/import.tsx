import { useEffect, useState } from 'preact/hooks';
import type { ImportReportRow, ImportView } from '../../importing/desk/import-views.js';
import type { RowOutcome } from '../../base/row-outcomes.js';
import { carryOut, askPerson } from '../asking/act.js';
import { askFor, post, saveFile } from '../asking/ask.js';
import { useMay } from '../asking/page-state.js';
import { useAsked, useAsking } from '../asking/use-asked.js';
import { countOf, outcomeWords, type Progress, rowsPerSecond, secondsLeft, withProgress } from '../imports.js';
import { rowsToCheck, isLeftByCanary, settledRows, counted, formatSpan, grouped } from '../../base/words.js';
import { PageHead, Facts, Panel, Table, AskedPanel } from '../parts/panel.js';
import { Button } from '../parts/controls.js';
import { ImportProgress, ImportState } from '../parts/states.js';
import { Ago, Clock, Sentence } from '../parts/time.js';
import { capitalized } from '../words.js';
import type { ComponentChildren } from 'preact';

/** The progress of one import and the outcome of its rows. */
export function Import({ id }: { readonly id: string }) {
  const asked = useAsked('/api/imports/{id}', { params: { id } }, 1500);
  const { data } = asked;
  const mayImport = useMay('import');
  return (
    <>
      <PageHead
        kind={
          data === undefined
            ? `Import ${id}`
            : `Import ${id} into ${data.event ?? `${data.workspace}/${data.pigeonholeId}`}`
        }
        title={data?.file ?? `Import ${id}`}
        note={data === undefined ? [] : notesOf(data)}
      >
        {data === undefined || !mayImport ? null : <Controls view={data} />}
      </PageHead>
      <AskedPanel title="Progress" id="progress" asked={asked} lines={4}>
        {(view) => <ProgressOf view={view} />}
      </AskedPanel>
      {data === undefined ? null : <Rows view={data} />}
      {data === undefined || !mayImport || rowsToCheck(data.counts) === 0 ? null : <Problems view={data} />}
    </>
  );
}

function notesOf(view: ImportView): readonly ComponentChildren[] {
  const { reason, until, requestedBy, startedAt, endedAt } = view;
  return [
    <ImportState view={view} />,
    <>
      started <Ago at={startedAt} />
      {requestedBy === null ? '' : ` by ${requestedBy}`}
      {endedAt === null ? null : [', ended ', <Clock at={endedAt} />]}
    </>,
    reason === null ? null : <Sentence text={reason} />,
    until === null ? null : ['continues ', <Ago at={until} />],
  ];
}

function Controls({ view: { id, state, file } }: { readonly view: ImportView }) {
  const act = async (what: 'pause' | 'resume' | 'cancel', said: string): Promise<void> => {
    if (what === 'cancel') {
      const given = await askPerson({
        title: 'Cancel the import?',
        body: 'Registrants that were already created stay. You can import the same file again later; pigeonpost then sends only the missing rows.',
        confirm: 'Cancel the import',
        grave: true,
      });
      if (given === null) return;
    }
    await carryOut(
      () => post('/api/imports/{id}/actions', { params: { id }, json: { do: what } }),
      () => said,
    );
  };
  const ended = state === 'done' || state === 'cancelled';
  return (
    <>
      {ended ? null : state === 'paused' ? (
        <Button look="main" onPress={() => act('resume', 'the import continues')}>
          Resume
        </Button>
      ) : (
        <Button onPress={() => act('pause', 'the import is paused')}>Pause</Button>
      )}
      {ended ? null : (
        <Button look="grave" onPress={() => act('cancel', 'the import is cancelled')}>
          Cancel…
        </Button>
      )}
      <Button
        look={ended ? 'main' : 'plain'}
        onPress={async () => {
          await carryOut(
            async () =>
              await saveFile(
                await askFor(`/api/imports/${encodeURIComponent(id)}/report?format=csv`, { patienceMs: 300_000 }),
                `${file.replace(/\.[^.]*$/, '')}.report.csv`,
              ),
            () => 'the report was saved',
          );
        }}
      >
        Download the report
      </Button>
    </>
  );
}

function ProgressOf({ view }: { readonly view: ImportView }) {
  const [seen, setSeen] = useState<readonly Progress[]>([]);
  const done = settledRows(view.counts);
  const running = view.state === 'running';
  useEffect(() => {
    setSeen((before) => (running ? withProgress(before, { atMs: Date.now(), done }) : []));
  }, [view, running, done]);
  const left = countOf(view.counts, 'waiting');
  const perSecond = rowsPerSecond(seen);
  const seconds = secondsLeft(left, perSecond);
  return (
    <>
      <div class="inside">
        <ImportProgress view={view} />
      </div>
      <Facts
        facts={[
          ['Done', grouped(done), `of ${counted(view.rows, 'row')}`],
          [
            'Waiting',
            grouped(left),
            view.canary === null ? null : `canary: imports only ${counted(view.canary, 'row')}`,
          ],
          ...(view.endedAt === null
            ? ([
                [
                  'Rate',
                  perSecond === null ? '–' : `${grouped(Math.round(perSecond))} rows/s`,
                  `${counted(view.requests, 'request')} so far`,
                ],
                ['Time left', running && seconds !== null ? formatSpan(seconds) : '–'],
              ] as const)
            : ([
                [
                  'Took',
                  formatSpan((Date.parse(view.endedAt) - Date.parse(view.startedAt)) / 1000),
                  `in ${counted(view.requests, 'request')}`,
                ],
              ] as const)),
        ]}
      />
    </>
  );
}

/** Returns the words for an outcome. */
function wordsFor(outcome: RowOutcome, view: ImportView): (typeof outcomeWords)[RowOutcome] {
  if (!isLeftByCanary(outcome, view)) return outcomeWords[outcome];
  return { name: 'left for later', todo: 'import the same file without the canary' };
}

function Rows({ view }: { readonly view: ImportView }) {
  const outcomes = (Object.keys(outcomeWords) as RowOutcome[]).filter((outcome) => countOf(view.counts, outcome) > 0);
  return (
    <Panel title="Outcomes" id="rows">
      <Table
        columns={[
          ['Outcome', 'name', (outcome) => wordsFor(outcome, view).name],
          ['Rows', 'number', (outcome) => grouped(countOf(view.counts, outcome))],
          ['What to do', '', (outcome) => capitalized(wordsFor(outcome, view).todo ?? '–')],
        ]}
        rows={outcomes}
        keyOf={(outcome) => outcome}
      />
    </Panel>
  );
}

const maxListed = 100;

/**
 * Rows that need attention. The report lists all rows. The audit log records each request, so the page repeats it once a
 * minute while the import runs, and every hour after its end.
 */
function Problems({ view: { id, counts, endedAt } }: { readonly view: ImportView }) {
  const path = `/api/imports/${encodeURIComponent(id)}/report?only=problems`;
  const asked = useAsking(
    endedAt === null ? path : `${path} ${rowsToCheck(counts)}`,
    async (signal) => {
      const text = await (await askFor(path, { signal, patienceMs: 120_000 })).text();
      const lines = text.split('\n').filter(Boolean);
      return { all: lines.length, rows: lines.slice(0, maxListed).map((line) => JSON.parse(line) as ImportReportRow) };
    },
    endedAt === null ? 60_000 : 60 * 60_000,
  );
  return (
    <AskedPanel title="Rows to check" id="problems" asked={asked} lines={4} aside={({ all }) => counted(all, 'row')}>
      {({ rows, all }) => (
        <>
          <Table
            columns={[
              ['Row', 'number', ({ row }) => grouped(row)],
              ['Outcome', '', ({ outcome }) => outcomeWords[outcome].name],
              ['Column', '', ({ column }) => column ?? '–'],
              ['Problem', '', ({ message, code }) => message ?? code ?? '–'],
            ]}
            rows={rows}
            keyOf={({ row }) => row}
          />
          {all > rows.length ? <p class="empty more">The report lists {grouped(all - rows.length)} more.</p> : null}
        </>
      )}
    </AskedPanel>
  );
}
