import { canvasSinkType } from './canvas/canvas.js';
import { dynamicsSinkType } from './dynamics/dynamics.js';
import { fileSinkType } from './file/file.js';
import { httpSinkType } from './http/http.js';
import { hubspotSinkType } from './hubspot/hubspot.js';
import { postgresSinkType } from './postgres/postgres.js';
import { s3SinkType } from './s3/s3.js';
import { salesforceSinkType } from './salesforce/salesforce.js';
import { slackSinkType } from './slack/slack.js';
import { webhookSinkType } from './webhook/webhook.js';
import { xapiSinkType } from './xapi/xapi.js';
import type { SinkTypeName } from './all-reasons.js';
import type { SinkType } from './sink.js';

const sinkTypes: Readonly<Record<SinkTypeName, SinkType>> = {
  canvas: canvasSinkType,
  dynamics: dynamicsSinkType,
  file: fileSinkType,
  http: httpSinkType,
  hubspot: hubspotSinkType,
  postgres: postgresSinkType,
  s3: s3SinkType,
  salesforce: salesforceSinkType,
  slack: slackSinkType,
  webhook: webhookSinkType,
  xapi: xapiSinkType,
};

/**
 * All sink types, by the `type` that selects them in pigeonpost.yaml. A new sink type needs a folder in sinks/, a line
 * here, and one in `all-reasons.ts`, which the compiler names.
 */
export const allSinks: ReadonlyMap<string, SinkType> = new Map(Object.entries(sinkTypes));
