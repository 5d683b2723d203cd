import { canvasSinkType } from './canvas/canvas.js';
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

/** Every sink there is, by the `type` that names it in pigeonpost.yaml. A new one is a folder and a line here. */
export const allSinks: ReadonlyMap<string, SinkType> = new Map(
  [
    canvasSinkType,
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
