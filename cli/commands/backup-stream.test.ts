import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeWhole } from '../../operations/backup/backup-store.js';
import { askForBackup } from './backup.js';

let server: Server;
const folder = mkdtempSync(join(tmpdir(), 'pigeonpost-ask-'));
const file = join(folder, 'ledger.tar.gz');
afterEach(() => {
  server.close();
  server.closeAllConnections();
  rmSync(file, { force: true });
});
afterAll(() => rmSync(folder, { recursive: true }));

async function ask(answer: (response: ServerResponse) => void): Promise<void> {
  server = createServer((_, response) => answer(response));
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const bytes = await askForBackup({ url, token: undefined });
  await writeWhole(file, (part) => writeFile(part, bytes));
}

describe('a backup of a running process', () => {
  it('becomes a file once it has arrived completely', async () => {
    await ask((response) => response.end('whole'));
    expect(existsSync(file)).toBe(true);
  });

  it('that is interrupted leaves no file, and the message does not blame the file', async () => {
    const breaking = ask((response) => response.write('a part', () => response.destroy()));
    await expect(breaking).rejects.toThrow(/^the running pigeonpost aborted the backup/);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('that is refused shows the reason of the process', async () => {
    const refused = ask((response) => response.writeHead(409).end('{"detail":"the store is a PostgreSQL database"}'));
    await expect(refused).rejects.toThrow('the store is a PostgreSQL database');
  });
});
