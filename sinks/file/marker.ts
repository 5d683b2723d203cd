import { constants } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import {
  DestinationChanged,
  errorCode,
  FILE_MODE,
  type FileAccess,
  FOLDER_MODE,
  NO_FOLLOW,
  syncFolder,
} from './file-access.js';

/** Name of the marker, a file that says to which ledger and sink the folder belongs. */
export const MARKER_FILE = '.pigeonpost-ledger';

/** A folder that contains only these files counts as empty. File systems and file managers create them. */
const NOT_CONTENT: ReadonlySet<string> = new Set([MARKER_FILE, 'lost+found', '.DS_Store']);

interface FolderOwner {
  readonly ledgerId: string;
  /** The sink's name. Two sinks in one folder would cut off each other's lines. */
  readonly sink: string;
}

/**
 * Finds out whether a folder belongs to this sink. The sink must not mistake the empty mount point of a disk for a new
 * folder, nor the files of another ledger for its own.
 * @param expected whether this sink has written here before; a missing marker then means that the folder was replaced
 * @returns `ours`, or `fresh` if the folder is new or empty and may be claimed
 * @throws {DestinationChanged} if it is neither
 */
export async function inspectFolder(
  folder: string,
  owner: FolderOwner,
  expected: boolean,
  access: FileAccess,
): Promise<'ours' | 'fresh'> {
  const entries = await entriesOf(folder, access);
  const marker = entries?.includes(MARKER_FILE) ? await readMarker(folder, access) : undefined;
  if (marker !== undefined) {
    if (marker.ledgerId === owner.ledgerId && marker.sink === owner.sink) return 'ours';
    throw new DestinationChanged(
      marker.ledgerId === owner.ledgerId
        ? `${folder} belongs to the sink "${marker.sink}": give this sink a folder of its own`
        : `${folder} has the marker of another ledger (${MARKER_FILE}): give this sink an empty folder`,
    );
  }
  if (expected) {
    throw new DestinationChanged(
      `${folder} has lost its marker ${MARKER_FILE}, although this sink has written there: mount the disk, or restore the folder`,
    );
  }
  if (entries?.some((entry) => !NOT_CONTENT.has(entry))) {
    throw new DestinationChanged(
      `${folder} contains other files but no marker ${MARKER_FILE}: give this sink an empty folder`,
    );
  }
  return 'fresh';
}

/**
 * Checks that the folder belongs to this sink. Writes a marker into a new folder. A second call changes nothing, and a
 * call after an interrupted one completes it.
 * @throws {DestinationChanged} if the folder belongs to another owner or is not the one that was used before
 */
export async function claimFolder(
  folder: string,
  owner: FolderOwner,
  expected: boolean,
  access: FileAccess,
): Promise<void> {
  if ((await inspectFolder(folder, owner, expected, access)) === 'ours') return;
  const firstMade = await access.mkdir(folder, { recursive: true, mode: FOLDER_MODE });
  const marker = await access.open(
    join(folder, MARKER_FILE),
    // Without O_TRUNC, because several lanes may claim the folder at the same time, and none may see the marker empty
    // after another has written it. All write the same text.
    constants.O_WRONLY | constants.O_CREAT | NO_FOLLOW,
    FILE_MODE,
  );
  try {
    const text = Buffer.from(`${JSON.stringify({ ledgerId: owner.ledgerId, sink: owner.sink })}\n`);
    await marker.write(text, 0, text.length, 0);
    await marker.truncate(text.length);
    await marker.sync();
  } finally {
    await marker.close();
  }
  const topmost = firstMade === undefined ? folder : dirname(resolve(firstMade));
  for (let made = resolve(folder); ; made = dirname(made)) {
    await syncFolder(made, access);
    if (made === resolve(topmost) || made === dirname(made)) return;
  }
}

/**
 * Reads the owner from the marker; undefined if the marker was not written completely (it has no newline at its end).
 * @throws {DestinationChanged} if the marker is complete but not in this sink's format
 */
export async function readMarker(folder: string, access: FileAccess): Promise<FolderOwner | undefined> {
  const text = await access.readFile(join(folder, MARKER_FILE), 'utf8');
  if (!text.endsWith('\n')) return undefined;
  try {
    const { ledgerId, sink } = JSON.parse(text) as Partial<Record<keyof FolderOwner, unknown>>;
    if (typeof ledgerId === 'string' && typeof sink === 'string') return { ledgerId, sink };
  } catch {
    // not JSON; reported below
  }
  throw new DestinationChanged(`${join(folder, MARKER_FILE)} is not a valid marker: give this sink an empty folder`);
}

async function entriesOf(folder: string, access: FileAccess): Promise<string[] | undefined> {
  try {
    return await access.readdir(folder);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    if (errorCode(error) === 'ENOTDIR') throw new DestinationChanged(`${folder} is not a folder: name one in "folder"`);
    throw error;
  }
}
