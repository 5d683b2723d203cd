import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { performance } from 'node:perf_hooks';
import type { ImportCheck } from '../../importing/desk/import-views.js';
import { askYesOrNo } from '../ask-yes-or-no.js';
import { askedBy } from '../asked-by.js';
import type { Context, Output } from '../context.js';
import { CommandError, ExitCode } from '../exit-code.js';
import { instanceOf } from '../instance.js';
import { grouped } from '../grouped.js';
import { tellEnd } from '../imports/end-of-import.js';
import { followImport } from '../imports/follow-import.js';
import { formatCheck, questionOf, type Sheet, strangeFields } from '../imports/format-check.js';
import { importClient } from '../imports/import-client.js';
import {
  codesFileOf,
  requireFile,
  requireOtherFile,
  requireWritable,
  writeWholeFile,
} from '../imports/import-files.js';
import { type ImportOptions, uploadQueryOf } from '../imports/import-options.js';
import { problemsCsv } from '../../importing/files/report-csv.js';
import { createProgressDisplay } from '../imports/progress-display.js';
import { targetInWords } from '../imports/target-in-words.js';
import { createUploadDisplay } from '../imports/upload-display.js';
import { shownInLine } from '../shown-text.js';
import { untilStopped } from '../until-stopped.js';

/**
 * `pigeonpost import <file>`: looks at a file of registrants, says what would become of it, asks, imports it and reports.
 * Ctrl-C ends the command and not the import. Exit 0 when every row is at the service, 5 when some are not, 1 when the
 * answer was no, the import is paused or cancelled, or the command was stopped; 2 for a file that cannot be used, 3 when
 * nothing runs, 4 when the pigeonhole is not known.
 */
export async function importFile(context: Context, options: ImportOptions): Promise<ExitCode> {
  const { out } = context;
  const { file, json, report } = options;
  const query = uploadQueryOf(options, askedBy());
  await requireFile(file);
  requireOtherFile('--report', report, file);
  requireOtherFile('--problems', options.problems, file);
  await requireWritable('--report', report);
  await requireWritable('--problems', options.problems);
  const codesFile = codesFileOf(file);
  const client = importClient((await instanceOf(context)).address);
  const stop = stopSignal();

  await client.target(query['pigeonhole']!); // first: what stands in the way is told before a large file is sent
  const check = await showing(out, options, 'looking at', (onSent) =>
    client.check(file, query, { signal: stop, onSent }),
  );
  if (options.problems !== undefined) await writeWholeFile(options.problems, problemsCsv(check.problems));
  if (options.dryRun) return tellDryRun(out, check, json);

  refuseEnded(check, options.force);
  if (!(await isAgreed(out, check, options))) {
    out.note('nothing is imported');
    return ExitCode.Failed;
  }
  if (check.generatedCodes > 0) {
    await writeWholeFile(codesFile, await client.generatedCodes(file, query, stop), { keep: true });
    out.note(`${grouped(check.generatedCodes)} codes are in ${codesFile}: keep it, it is the only place`);
  }
  const begun = await showing(out, options, 'taking in', (onSent) =>
    client.start(file, { ...query, content: check.file.contentHash }, { signal: stop, onSent }),
  );
  if (!options.wait) {
    if (json) out.line(JSON.stringify({ import: begun.id }));
    else out.line(`import ${begun.id} has begun; see how far it is with: pigeonpost import follow ${begun.id}`);
    return ExitCode.Done;
  }
  out.note(`import ${begun.id} has begun; Ctrl-C leaves it running`);
  const followed = await followImport(client, begun, { display: createProgressDisplay(out, json), stop });
  return await tellEnd(out, client, followed, options);
}

/** Does something with the whole file, and shows how far it is to whoever sits before it. */
async function showing<T>(
  out: Output,
  { file, json }: Pick<ImportOptions, 'file' | 'json'>,
  verb: string,
  work: (onSent: (bytes: number) => void) => Promise<T>,
): Promise<T> {
  if (!out.terminal || json) return await work(() => undefined);
  const { size } = await stat(file);
  const doing = shownInLine(`${verb} ${basename(file)}`);
  const display = createUploadDisplay(out, { doing, fileBytes: size, now: () => performance.now() });
  try {
    return await work(display.onSent);
  } finally {
    display.end();
  }
}

function tellDryRun(out: Output, check: ImportCheck, json: boolean): ExitCode {
  if (json) out.line(JSON.stringify({ dryRun: true, ...check }));
  else {
    for (const line of formatCheck(check, sheetOf(out))) out.line(line);
    out.line('nothing was sent');
  }
  const { conflict, rejected, invalid } = check.counts;
  return conflict + rejected + invalid > 0 ? ExitCode.DoneWithRejects : ExitCode.Done;
}

function refuseEnded({ target }: ImportCheck, force: boolean): void {
  if (target.status !== 'ended' || force) return;
  throw new CommandError(
    ExitCode.WrongUse,
    `${targetInWords(target)}: it is over; add --force to import into it all the same`,
  );
}

/** Shows what would be done and asks, unless told not to. A program reads standard output: it is told nothing there. */
async function isAgreed(out: Output, check: ImportCheck, { yes, json }: ImportOptions): Promise<boolean> {
  const { counts } = check;
  const say = (line: string): void => (json ? out.note(line) : out.line(line));
  if (!json || !yes) for (const line of formatCheck(check, sheetOf(out))) say(line);
  const strange = strangeFields(check.columns);
  if (strange.length > 0) {
    out.note(
      `never seen at this pigeonhole: ${strange.join(', ')}; the service ignores fields that it does not know, without a word, and nothing can be changed afterwards`,
    );
  }
  if (yes || counts.send === 0) return true;
  const agreed = await askYesOrNo(questionOf(check));
  if (agreed === undefined) {
    throw new CommandError(ExitCode.WrongUse, 'there is no terminal to ask at: add --yes to confirm');
  }
  return agreed;
}

/** What goes into a file or another program is not cut. */
function sheetOf(out: Output): Sheet {
  return { columns: out.terminal ? out.columns : Infinity, now: new Date() };
}

/** Fires when a person or a supervisor asks this command to end. */
export function stopSignal(): AbortSignal {
  const controller = new AbortController();
  untilStopped().then(
    () => controller.abort(),
    () => undefined,
  );
  return controller.signal;
}
