import { runDouble } from '../serve/run-double.js';
import { scaledLimits } from './rate-limits.js';
import { ALL_SCOPES } from './slack-workspace.js';
import { startSlackDouble } from './start-slack-double.js';

/** Runs the Slack stand-in as a program, with one channel and one token: see README.md. */
runDouble(
  'Slack double',
  ({ port, token, per10s }) =>
    startSlackDouble({
      port,
      profile: 'established',
      ...(token !== undefined && { tokens: [{ token, scopes: ALL_SCOPES }] }),
      ...(per10s !== undefined && { limits: scaledLimits(per10s) }),
    }),
  ['token', 'per10s'],
);
