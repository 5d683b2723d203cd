import { ImportRefusal } from '../../api/import-refusal.js';
import type { ImportAction } from '../../api/import-request.js';
import type { Ledger } from '../../ledger/ledger.js';
import { askToCancel } from '../../ledger/queries/imports/ask-import.js';
import type { ImportProgress } from '../../ledger/queries/imports/read-import.js';
import { pause, resume } from '../../ledger/queries/pauses.js';

/**
 * Writes what a person asks of an import into the ledger; the workflow is to be woken afterwards. A person's resume
 * also lifts what a cause has paused: the cause is looked at anew.
 * @throws {ImportRefusal} when it has ended
 */
export async function actOnImport(
  ledger: Ledger,
  { id, number, state }: Pick<ImportProgress, 'id' | 'number' | 'state'>,
  { do: verb, by, reason }: ImportAction,
): Promise<void> {
  if (state === 'done' || state === 'cancelled') {
    throw new ImportRefusal('stopped', `import ${number} has ended: there is nothing to ${verb}`);
  }
  switch (verb) {
    case 'pause':
      return await pause(ledger, {
        scope: 'import',
        name: id,
        pausedBy: 'person',
        cause: 'asked',
        detail: reason ?? '',
        fingerprint: null,
        actor: by ?? null,
      });
    case 'resume':
      await resume(ledger, 'import', id, 'person');
      await resume(ledger, 'import', id, 'cause');
      return;
    case 'cancel':
      await askToCancel(ledger, id, by ?? null);
  }
}
