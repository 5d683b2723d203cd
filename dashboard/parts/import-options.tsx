import type { SavedMapping } from '../../importing/desk/import-views.js';
import type { ImportWish } from '../import-options.js';
import { CommittedInput } from './committed-input.js';
import { Choice } from './pigeonhole-table.js';

interface Props {
  readonly wish: ImportWish;
  readonly mappings: readonly SavedMapping[];
  readonly onChange: (part: Partial<ImportWish>) => void;
}

/** Options that most imports leave unchanged. */
export function ImportOptions({ wish, mappings, onChange }: Props) {
  return (
    <>
      <div class="form">
        <label class="check">
          <input
            type="checkbox"
            checked={wish.canary}
            onChange={(event) => onChange({ canary: event.currentTarget.checked })}
          />
          one row first, to look at it in the dashboard of the service
        </label>
        <label class="check">
          <input
            type="checkbox"
            checked={wish.generateCodes}
            onChange={(event) => onChange({ generateCodes: event.currentTarget.checked })}
          />
          give codes to rows without one
        </label>
      </div>
      <details>
        <summary>More: saved mappings, how the file is read, events that are over</summary>
        <div class="form padded">
          <label>
            Use a saved mapping
            <Choice label="Use a saved mapping" value={wish.mapping} onChoose={(mapping) => onChange({ mapping })}>
              {[['', 'none'], ...mappings.map(({ name }): [string, string] => [name, name])]}
            </Choice>
          </label>
          <Line
            label="Save the mapping as"
            value={wish.saveMapping}
            onLine={(saveMapping) => onChange({ saveMapping })}
          />
          <Line label="Encoding" value={wish.encoding} onLine={(encoding) => onChange({ encoding })} />
          <Line label="Delimiter" value={wish.delimiter} onLine={(delimiter) => onChange({ delimiter })} />
          <Line label="Sheet" value={wish.sheet} onLine={(sheet) => onChange({ sheet })} />
          <label class="check">
            <input
              type="checkbox"
              checked={wish.force}
              onChange={(event) => onChange({ force: event.currentTarget.checked })}
            />
            also into an event that is over
          </label>
        </div>
      </details>
    </>
  );
}

interface LineProps {
  readonly label: string;
  readonly value: string;
  readonly onLine: (value: string) => void;
}

function Line({ label, value, onLine }: LineProps) {
  return (
    <label>
      {label}
      <CommittedInput value={value} onCommit={onLine} />
    </label>
  );
}
