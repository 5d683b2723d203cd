import { basename } from 'node:path';
import { CommandError, ExitCode } from '../exit-code.js';
import type { UploadQuery } from './import-client.js';

/** What `pigeonpost import <file>` takes. */
export interface ImportOptions {
  readonly file: string;
  readonly pigeonhole?: string | undefined;
  /** Each `COLUMN=FIELD`, `COLUMN=` not to send it, or the name of a saved mapping. */
  readonly map: readonly string[];
  readonly saveMap?: string | undefined;
  readonly encoding?: string | undefined;
  readonly delimiter?: string | undefined;
  readonly sheet?: string | undefined;
  readonly canary?: number | undefined;
  readonly generateCodes: boolean;
  readonly force: boolean;
  readonly dryRun: boolean;
  readonly yes: boolean;
  readonly wait: boolean;
  readonly problems?: string | undefined;
  readonly report?: string | undefined;
  readonly json: boolean;
}

const delimiterWords: Readonly<Record<string, string>> = { tab: '\t', comma: ',', semicolon: ';', pipe: '|' };

/** The query of the upload. @throws {CommandError} when an option cannot be meant */
export function uploadQueryOf(options: ImportOptions, by: string | undefined): UploadQuery {
  if (options.pigeonhole === undefined) throw wrong('say into which pigeonhole: add --pigeonhole ID');
  const pigeonhole = options.pigeonhole.replace(/^pigeonhole:/, '');
  if (!/^(?:[a-z0-9][a-z0-9-]*\/)?[1-9]\d*$/.test(pigeonhole)) {
    throw wrong(`--pigeonhole is "${options.pigeonhole}": write its ID, or WORKSPACE/ID`);
  }
  const { saveMap } = options;
  if (saveMap !== undefined && !/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/.test(saveMap)) {
    throw wrong(`--save-map is "${saveMap}": use letters, digits, ".", "_" and "-", at most 63 of them`);
  }
  return given({
    pigeonhole,
    name: basename(options.file),
    map: options.map.length === 0 ? undefined : JSON.stringify(options.map),
    saveMapping: saveMap,
    encoding: options.encoding,
    delimiter: options.delimiter === undefined ? undefined : (delimiterWords[options.delimiter] ?? options.delimiter),
    sheet: options.sheet,
    canary: options.canary === undefined ? undefined : String(options.canary),
    generateCodes: options.generateCodes ? 'true' : undefined,
    force: options.force ? 'true' : undefined,
    by,
  });
}

function given(query: Readonly<Record<string, string | undefined>>): UploadQuery {
  return Object.fromEntries(Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined));
}

function wrong(message: string): CommandError {
  return new CommandError(ExitCode.WrongUse, message);
}
