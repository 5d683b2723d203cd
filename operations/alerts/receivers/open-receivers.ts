import type { AlertReceiver, Config } from '../../../config/config.js';
import { networkSettings } from '../../../work/open-sinks.js';
import type { OpenReceiver } from './receiver.js';
import { openSlackReceiver } from './slack-receiver.js';
import { openSmtpReceiver } from './smtp-receiver.js';
import { openWebhookReceiver } from './webhook-receiver.js';

/** Everybody whom a configuration tells, in its order; nobody is asked anything yet. Whoever opens them closes them. */
export function openReceivers(config: Config): OpenReceiver[] {
  const network = networkSettings(config);
  const open = (receiver: AlertReceiver): OpenReceiver => {
    switch (receiver.type) {
      case 'slack':
        return openSlackReceiver(receiver, network);
      case 'webhook':
        return openWebhookReceiver(receiver, network);
      case 'smtp':
        return openSmtpReceiver(receiver, network);
      default:
        return receiver satisfies never;
    }
  };
  return (config.alerts?.to ?? []).map(open);
}
