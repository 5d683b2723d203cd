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
import type { SinkType } from './sink.js';

/**
 * All sink types, by the `type` that selects them in pigeonpost.yaml. A new sink type needs a folder in sinks/ and a
 * line here.
 */
export const allSinks: ReadonlyMap<string, SinkType> = new Map(
  [
    canvasSinkType,
    dynamicsSinkType,
    fileSinkType,
    httpSinkType,
    hubspotSinkType,
    postgresSinkType,
    s3SinkType,
    salesforceSinkType,
    slackSinkType,
    webhookSinkType,
    xapiSinkType,
  ].map((sinkType: SinkType) => [sinkType.type, sinkType]),
);
