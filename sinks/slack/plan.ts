import { forgetsPerson, type Planned, type Subject } from '../sink.js';
import { MappingError } from '../mapping/mapping-error.js';
import { mappingView } from '../mapping/mapping-view.js';
import type { SlackConfig } from './config.js';
import { wellFormed, redactedMessage } from './blocks.js';
import {
  type ItemMetadata,
  type ShowOperation,
  type SlackOperation,
  readObject,
  type SlackObject,
  existingMessage,
} from './operation.js';
import { renderItem, type Rendered } from './render.js';

/**
 * Plans what one change does in Slack. Pure. If the item's condition holds, its message is posted, edited, or moved to
 * the channel or thread where it belongs now. If the condition no longer holds, the message is withdrawn.
 *
 * A message that was rendered while the attendee was known must change once the attendee is not, whatever `onChange`
 * and `onWithdrawn` say. If the mapping fails without the attendee, the message is withdrawn.
 */
export async function planSubject(
  config: SlackConfig,
  sink: string,
  subject: Subject,
): Promise<Planned<SlackOperation>> {
  const object = readObject(subject.object);
  const mustHide = (existingMessage(object)?.named ?? false) && !isNamed(subject);
  if (subject.removal !== null) {
    return withdraw(config, subject, object, forgetsPerson(subject.removal) || mustHide, subject.removal);
  }
  let rendered: Rendered | { readonly nothing: string };
  try {
    rendered = await renderItem(config, sink, mappingView(subject), isNamed(subject));
  } catch (error) {
    if (!(error instanceof MappingError)) throw error;
    if (mustHide) return withdraw(config, subject, object, true, 'anonymous');
    return { kind: 'unplannable', cause: error.causeCode, detail: error.message };
  }
  if ('nothing' in rendered) return withdraw(config, subject, object, mustHide, rendered.nothing);
  return show(config, subject, object, rendered, mustHide);
}

/**
 * Returns an operation with which `recover` looks up an item's message, whatever the mapping says now: the lane's
 * memory has its place. It is never sent; if a message is found, the change is planned again. Pure.
 */
export function planLookUp(subject: Subject): Planned<SlackOperation> {
  const operation = {
    ...sharedFields(subject, readObject(subject.object)),
    kind: 'redact',
    content: redactedMessage(),
  } as const;
  return { kind: 'send', operation };
}

function show(
  config: SlackConfig,
  subject: Subject,
  object: SlackObject | null,
  { to, content, shown }: Rendered,
  wasNamed: boolean,
): Planned<SlackOperation> {
  const sameText = object?.state === 'shown' && object.hash === shown.hash;
  const mustHide = wasNamed && !sameText;
  const operation = (kind: ShowOperation['kind'], votesOnly = false): Planned<SlackOperation> => ({
    kind: 'send',
    operation: { ...sharedFields(subject, object), kind, to, content, shown, votesOnly, mustHide },
  });
  if (object === null) return operation('post');
  if (object.state === 'blind' || config.webhookUrl !== undefined) return { kind: 'nothing', reason: 'not-editable' };
  if (object.state === 'unknown') return operation('post');
  const { onChange } = config.messages[shown.entry]!;
  const isReplay = subject.change.replay !== undefined;
  const samePlace = object.channel === to.channel && object.threadKey === (to.thread?.key ?? null);
  if (object.state === 'fixed' && !mustHide) return { kind: 'nothing', reason: 'not-editable' };
  if (onChange === 'ignore' && object.state === 'shown' && !mustHide) return { kind: 'nothing', reason: 'ignored' };
  if (!samePlace) return operation('move');
  const isBroadcast = object.broadcast || !shown.broadcast;
  if (sameText && object.votes === shown.votes && isBroadcast && !isReplay) {
    return { kind: 'nothing', reason: 'unchanged' };
  }
  return operation('edit', sameText && isBroadcast && !isReplay);
}

/** @param force withdraw even if `onWithdrawn` is `keep` */
function withdraw(
  config: SlackConfig,
  subject: Subject,
  object: SlackObject | null,
  force: boolean,
  reason: string,
): Planned<SlackOperation> {
  if (object === null || object.state === 'redacted') return { kind: 'nothing', reason };
  if (object.state === 'blind' || config.webhookUrl !== undefined) return { kind: 'nothing', reason: 'not-editable' };
  const own = config.messages.filter(({ from }) => from === subject.change.list);
  const entry = object.state === 'unknown' ? undefined : config.messages[object.entry];
  const { onWithdrawn } = (entry?.from === subject.change.list ? entry : own[0]) ?? { onWithdrawn: 'redact' };
  if (onWithdrawn === 'keep' && !force) return { kind: 'nothing', reason: 'kept' };
  return { kind: 'send', operation: { ...sharedFields(subject, object), kind: 'redact', content: redactedMessage() } };
}

function sharedFields({ change }: Subject, object: SlackObject | null) {
  const metadata: ItemMetadata = {
    event_type: 'pigeonpost_item',
    event_payload: {
      change: change.id,
      pigeonhole: change.pigeonholeId,
      list: change.list,
      key: wellFormed(change.key),
    },
  };
  return {
    changeId: change.id,
    itemKey: `${change.list}/${change.key}`,
    metadata,
    existing: existingMessage(object),
  };
}

/** Whether the mapping can know the attendee: from their record, or from the item itself. */
function isNamed({ change: { data, list }, attendee }: Subject): boolean {
  if (attendee !== null) return true;
  if (data === null) return false;
  const { attendee: flagged } = data;
  return (
    list === 'attendees' ||
    typeof data['attendeeId'] === 'number' ||
    (typeof flagged === 'object' && flagged !== null && 'id' in flagged)
  );
}
