import { loadProcessConfig } from '../../worker/load-process-config.js';
import { apiAddressOf, apiClient } from '../api-client.js';
import type { Context } from '../context.js';
import { ExitCode } from '../exit-code.js';
import { pageLink } from '../page-link.js';

/** `pigeonpost open`: prints a link that signs one browser in to the page. Exit 0, 3 when no pigeonpost answers. */
export async function open({ config, out }: Context, { json }: { json: boolean }): Promise<ExitCode> {
  const loaded = await loadProcessConfig(config);
  const { url, token } = apiAddressOf(loaded);
  const made = await apiClient(url, token).createPageCode();
  const link = pageLink(loaded.server.publicUrl ?? url, made);
  if (json) out.line(JSON.stringify({ link, expiresAt: made.expiresAt }));
  else {
    out.line(link);
    out.note('Open this link in a browser within ten minutes. It works once.');
  }
  return ExitCode.Done;
}
