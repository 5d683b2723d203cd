// Completes the build after tsc: copies SQL files next to the code that reads them, writes llms.txt, and prepares two
// things that would delay every start by seconds: the database that a first start copies, and the workflow bundle of the
// workers.
import { chmodSync, cpSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createRequire } from 'node:module';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const require = createRequire(import.meta.url);
// Removed first, because a renamed migration of an earlier build would be a second one with the same number.
rmSync(join(root, 'dist/ledger/migrations'), { recursive: true, force: true });
cpSync(join(root, 'ledger/migrations'), join(root, 'dist/ledger/migrations'), { recursive: true });
const { documentIndex, documentIndexText } = require(join(root, 'dist/base/documents.js'));
writeFileSync(join(root, documentIndex), documentIndexText());
chmodSync(join(root, 'dist/cli/main.js'), 0o755);
await require(join(root, 'dist/ledger/make-new-store.js')).makeNewStore();
await require(join(root, 'dist/worker/run-worker.js')).writeWorkflowBundle();
