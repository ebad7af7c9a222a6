import { type Fields, isRecord, optional, readList, readRecord, readText, readUuid } from './fields.js';
import type { Visitor } from './options.js';
import { invalid } from './problems.js';

const KINDS = ['message', 'resume', 'rejoin', 'cancel'] as const;
const MAX_ANSWERS = 1_000;
const MAX_ATTACHMENTS = 20;

/**
 * The body of a run, built from the fields that a visitor may decide. All others are left out, such as `config`.
 * @param uploaded returns the service's URL of a file that this visitor has uploaded; throws for other URLs
 * @throws Refusal that names the field
 */
export async function runBody(
  body: Fields,
  visitor: Visitor,
  uploaded: (url: string) => Promise<string>,
): Promise<object> {
  const [kind, second] = KINDS.filter((name) => body[name] !== undefined);
  if (kind === undefined || second !== undefined)
    throw invalid(`The body must have exactly one of ${KINDS.join(', ')}.`);
  const value = body[kind];
  const widget = optional('widget', body['widget'], widgetOf);
  switch (kind) {
    case 'message': {
      const config = { userContext: { ...visitor.userContext, userId: visitor.id } };
      return { message: await messageOf(readRecord(value, kind), uploaded), config, ...widget };
    }
    case 'resume':
      // Without `config`: the service uses that of the run that asked, and refuses another one.
      return { resume: readList(value, kind, MAX_ANSWERS).map(answerOf), ...widget };
    case 'rejoin':
    case 'cancel':
      return { [kind]: positionOf(readRecord(value, kind), kind) };
    default:
      return kind satisfies never;
  }
}

async function messageOf(
  { content, id, attachments }: Fields,
  uploaded: (url: string) => Promise<string>,
): Promise<object> {
  const files = attachments === undefined ? [] : readList(attachments, 'message.attachments', MAX_ATTACHMENTS);
  const attached = await Promise.all(files.map((file) => attachmentOf(file, uploaded)));
  return {
    role: 'user',
    content: readText(content, 'message.content'),
    ...optional('id', id, readText),
    ...(attached.length === 0 ? {} : { attachments: attached }),
  };
}

async function attachmentOf(file: unknown, uploaded: (url: string) => Promise<string>): Promise<object> {
  const { name, url, contentType } = readRecord(file, 'message.attachments');
  return {
    name: readText(name, 'message.attachments.name'),
    url: await uploaded(readText(url, 'message.attachments.url')),
    contentType: readText(contentType, 'message.attachments.contentType'),
  };
}

function answerOf(answer: unknown): object {
  const { interruptId, status, payload } = readRecord(answer, 'resume');
  if (status !== 'resolved' && status !== 'cancelled') throw invalid('resume.status must be resolved or cancelled.');
  return {
    interruptId: readUuid(interruptId, 'resume.interruptId'),
    status,
    ...optional('payload', payload, payloadOf),
  };
}

function payloadOf(payload: unknown): object {
  const { approved, reason } = readRecord(payload, 'resume.payload');
  if (typeof approved !== 'boolean') throw invalid('resume.payload.approved must be true or false.');
  return { approved, ...optional('reason', reason, readText) };
}

function positionOf({ runId, startingAfter }: Fields, name: string): object {
  return {
    runId: readUuid(runId, `${name}.runId`),
    ...optional('startingAfter', startingAfter, (value) => {
      if (Number.isSafeInteger(value)) return value;
      throw invalid(`${name}.startingAfter must be the number of an event.`);
    }),
  };
}

function widgetOf(widget: unknown): object {
  return { version: readText(isRecord(widget) ? widget['version'] : undefined, 'widget.version') };
}
