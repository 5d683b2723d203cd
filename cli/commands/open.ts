import type { Context } from '../context.js';
import { ExitCode } from '../exit-code.js';
import { instanceOf } from '../instance.js';
import { pageLink } from '../page-link.js';

/** `pigeonpost open`: prints a link that signs one browser in to the page. Exit 0, 3 when no pigeonpost answers. */
export async function open(context: Context, { json }: { json: boolean }): Promise<ExitCode> {
  const { out } = context;
  const { address, client, config } = await instanceOf(context);
  const made = await client.createPageCode();
  const link = pageLink(config?.server.publicUrl ?? (await address()).url, made);
  if (json) out.line(JSON.stringify({ link, expiresAt: made.expiresAt }));
  else {
    out.line(link);
    out.note('Open this link in a browser within ten minutes. It works once.');
  }
  return ExitCode.Done;
}
