import type { SinkTypeName } from './all-reasons.js';
import { canvasForm } from './canvas/connect.js';
import type { ConnectForm } from './connect.js';
import { dynamicsForm } from './dynamics/connect.js';
import { fileForm } from './file/connect.js';
import { httpForm } from './http/connect.js';
import { hubspotForm } from './hubspot/connect.js';
import { postgresForm } from './postgres/connect.js';
import { s3Form } from './s3/connect.js';
import { salesforceForm } from './salesforce/connect.js';
import { slackForm } from './slack/connect.js';
import { webhookForm } from './webhook/connect.js';
import { xapiForm } from './xapi/connect.js';

/** The forms with which people connect a destination, by sink type. The compiler names the type that has no form. */
export const sinkForms: Readonly<Record<SinkTypeName, ConnectForm>> = {
  slack: slackForm,
  hubspot: hubspotForm,
  salesforce: salesforceForm,
  dynamics: dynamicsForm,
  canvas: canvasForm,
  xapi: xapiForm,
  webhook: webhookForm,
  http: httpForm,
  postgres: postgresForm,
  s3: s3Form,
  file: fileForm,
};
