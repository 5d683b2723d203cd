import { useState } from 'preact/hooks';
import { filledAddress } from '../../base/api-client.js';
import {
  deadLettersFileName,
  type ExportFormat,
  exportFileName,
  exportFormats,
  hasSheet,
  type SheetName,
  sheetNames,
} from '../../base/sheets/sheet-names.js';
import { carryOut } from '../asking/act.js';
import { askFor, saveFile } from '../asking/ask.js';
import { useMay } from '../asking/page-state.js';
import { Button, Check, Choice } from './controls.js';
import { Panel } from './panel.js';

interface DeadLettersProps {
  readonly sink: string;
  readonly cause?: string | null;
  readonly list?: string | null;
  /** `WORKSPACE/ID`. */
  readonly pigeonhole?: string | null;
}

/** Buttons that download the dead letters of a sink for a spreadsheet. */
export function ExportDeadLetters({ sink, cause = null, list = null, pigeonhole = null }: DeadLettersProps) {
  const download = async (format: ExportFormat): Promise<void> => {
    const query = {
      sink,
      format,
      cause: cause ?? undefined,
      list: list ?? undefined,
      pigeonhole: pigeonhole ?? undefined,
    };
    const name = deadLettersFileName({ sink, pigeonhole }, format);
    await carryOut(
      async () =>
        await saveFile(await askFor(filledAddress('/api/dead-letters/file', { query }), { patienceMs }), name),
      () => `${name} was saved`,
    );
  };
  return (
    <>
      {exportFormats.toReversed().map((format) => (
        <Button key={format} onPress={() => download(format)}>
          {`Export ${format.toUpperCase()}`}
        </Button>
      ))}
    </>
  );
}

interface ExportProps {
  readonly workspace: string;
  /** 0: the lists of the workspace. */
  readonly pigeonholeId: number;
}

/** The first part of an export arrives when all fields of a long list are known. */
const patienceMs = 10 * 60_000;

const formatWords: Readonly<Record<ExportFormat, string>> = { xlsx: 'Excel workbook (XLSX)', csv: 'CSV' };

/** Downloads tables of a pigeonhole for a spreadsheet. */
export function ExportPanel({ workspace, pigeonholeId }: ExportProps) {
  const [table, setTable] = useState<SheetName | ''>('');
  const [format, setFormat] = useState<ExportFormat>('xlsx');
  const [isPersonal, setPersonal] = useState(false);
  const mayImport = useMay('import');
  const mayShow = useMay('personal');
  const tables = sheetNames.filter((name) => hasSheet({ pigeonholeId }, name) && (name !== 'import-rows' || mayImport));
  // A CSV file holds one table.
  const shownFormat = table === '' ? 'xlsx' : format;
  const download = async (): Promise<void> => {
    const query = { sheets: table || 'all', format: shownFormat, personal: isPersonal ? '1' : undefined };
    const path = filledAddress('/api/exports/{workspace}/{id}', { params: { workspace, id: pigeonholeId }, query });
    const place = { workspace, pigeonholeId };
    const name = exportFileName({ place, sheets: table === '' ? [] : [table], format: shownFormat });
    await carryOut(
      async () => await saveFile(await askFor(path, { patienceMs }), name),
      () => `${name} was saved`,
    );
  };
  return (
    <Panel title="Export" id="export">
      <div class="inside form">
        <label>
          Table
          <Choice label="Table" value={table} onChoose={(chosen) => setTable(chosen as SheetName | '')}>
            {[['', 'all tables'], ...tables.map((name) => [name, name] as const)]}
          </Choice>
        </label>
        <label>
          Format
          <Choice label="Format" value={shownFormat} onChoose={(chosen) => setFormat(chosen as ExportFormat)}>
            {exportFormats
              .filter((each) => each === 'xlsx' || table !== '')
              .toReversed()
              .map((each) => [each, formatWords[each]])}
          </Choice>
        </label>
        {mayShow ? (
          <Check checked={isPersonal} onCheck={setPersonal}>
            With names and texts (audited)
          </Check>
        ) : null}
        <Button look="main" onPress={download}>
          Export
        </Button>
      </div>
      <p class="empty">
        {isPersonal
          ? 'People who refused consent, and authors of anonymous items, are left out. An erasure does not reach the file.'
          : 'Without names and texts, the file has only keys, states and times.'}
      </p>
    </Panel>
  );
}
