import { ValidationFailed } from '../../platform/errors/index.js';
import { isText, validated } from '../../platform/http/index.js';
import type { ApprovalAnswer } from '../domain/approval.js';
import { NO_OPTIONS, type RunOptions } from '../domain/run-options.js';
import type { Conversation, InputMessage } from '../domain/new-thread.js';
import {
  type AgUiContext,
  type AgUiMessage,
  type AgUiResumeEntry,
  type AgUiTool,
  MAX_ENTRIES,
  parseAgUiInput,
} from './ag-ui.schema.js';
import { CLIENT_TOOL_NAME, ClientToolBody, MAX_CLIENT_TOOLS, readClientTools } from './client-tools.dto.js';
import { AttachmentCount, MAX_ATTACHMENTS } from './attachments.dto.js';
import {
  checkContent,
  checkInstructions,
  checkSaysSomething,
  MAX_CONTENT,
  MAX_ID,
  MAX_INSTRUCTIONS,
  MAX_MESSAGES,
  MAX_PARTS,
  toolOutput,
} from './content-limits.js';
import { type Content, combineParts, type Part } from './content-parts.js';
import { MAX_TOOL_OUTPUT } from '../engine/limits.js';
import type { UserContext, Widget } from '../ports/index.js';
import { MAX_REASON, readAnswers, ResumeListBody, RunCallerBody } from './runs.dto.js';
import { list, object, text } from './schemas.js';

/** The parts of an AG-UI request that the service uses. */
export interface AgUiRequest {
  readonly threadId: string;
  readonly runId: string;
  readonly conversation: Conversation;
  readonly options: RunOptions;
  /** Empty when the run answers the conversation's last message. */
  readonly answers: readonly ApprovalAnswer[];
  /** Results before the last message, where the run answers that. */
  readonly results: readonly ApprovalAnswer[];
  readonly userContext: UserContext | null;
  readonly widget?: Widget | undefined;
}

/** The fields of `forwardedProps` that the service reads. */
const CALLER_FIELDS = ['userContext', 'widget'] as const;

/** The request body in the OpenAPI document: AG-UI's own `RunAgentInput`. */
export const AG_UI_INPUT_SCHEMA = object(
  'The run input of AG-UI 1.0. Fields of the protocol that are not listed here are accepted and not used.',
  {
    threadId: text(
      'The id of a thread of this agent, or an id that the client chooses: its first run opens a thread, which later ' +
        'runs of this agent with the same id continue.',
      { minLength: 1, maxLength: MAX_ID },
    ),
    runId: text('The events have this id.', { minLength: 1, maxLength: MAX_ID }),
    messages: list(
      'The last one is answered and must be a user’s, or the result of a call of `tools`. Where the thread is new the others become its history; else ' +
        'the stored history counts. The `id` of a user’s message, of at most 255 characters, is read back as `clientId`. `system` and `developer` messages are put after the agent’s own prompt. A user’s ' +
        `message may have up to ${MAX_ATTACHMENTS} parts of the types image and document, with sources data and url, ` +
        `among at most ${MAX_PARTS} parts. The text of a message has at most ${MAX_CONTENT} characters; \`system\` and ` +
        `\`developer\` messages and \`context\` together have at most ${MAX_INSTRUCTIONS}.`,
      { type: 'object' },
      { maxItems: MAX_MESSAGES },
    ),
    context: list(
      'Put after the agent’s own prompt.',
      {
        type: 'object',
        required: ['description', 'value'],
        properties: { description: text('What the value is.'), value: text('The text for the model.') },
      },
      { maxItems: MAX_ENTRIES },
    ),
    forwardedProps: object('Fields of this service beside the protocol; other fields are ignored.', {
      userContext: { type: 'object', description: 'As `config.userContext` of a run.' },
      widget: object(
        'As `widget` of a run: the front end draws response components.',
        { version: text('Version of the widget SDK, such as `0.5.0`.') },
        ['version'],
      ),
    }),
    tools: list(
      'Tools of the front end, offered beside the agent’s own. A call of one ends the run; the next input has its result as a `tool` message.',
      {
        type: 'object',
        required: ['name', 'description'],
        properties: {
          name: text('Unique; not the name of a tool that the agent has.', { pattern: CLIENT_TOOL_NAME.source }),
          description: text('Tells the model what the tool does.'),
          parameters: { type: 'object', description: 'JSON Schema of the arguments.' },
        },
      },
      { maxItems: MAX_CLIENT_TOOLS },
    ),
    state: { description: 'Not used.' },
    resume: list(
      'As `resume` of a run: no message is answered then, and `messages` may be empty.',
      {
        type: 'object',
        required: ['interruptId', 'status'],
        properties: {
          interruptId: text('Id of an interrupt with which the last run of the thread ended.', { format: 'uuid' }),
          status: text('`cancelled` declines the call.', { enum: ['resolved', 'cancelled'] }),
          payload: object(
            'Required with `resolved`: `approved` for a `tool_approval`, `result` for a call of one of `tools`.',
            {
              approved: { type: 'boolean', description: 'Whether the call is made.' },
              reason: text('The model reads it when the call is declined.', { maxLength: MAX_REASON }),
              result: {
                oneOf: [{ type: 'string', maxLength: MAX_TOOL_OUTPUT }, { type: 'object' }],
                description: 'What the tool returned; a `tool` message says it too.',
              },
              isError: { type: 'boolean', description: 'Beside `result`: the tool failed, and `result` says why.' },
              input: { type: 'object', description: 'The arguments of an approved call, instead of the model’s.' },
            },
          ),
        },
      },
      { maxItems: MAX_ENTRIES },
    ),
  },
  ['threadId', 'runId', 'messages'],
);

/** @throws ValidationFailed naming the field */
export function readAgUiInput(body: unknown): AgUiRequest {
  const { threadId, runId, messages, tools, context, resume, forwardedProps } = parseAgUiInput(body);
  checkId(threadId, 'threadId');
  checkId(runId, 'runId');
  const results = readResults(messages);
  const last = messages.findLast(({ role }) => role === 'user' || role === 'assistant' || role === 'tool');
  const resumes = resume.length > 0 || last?.role === 'tool';
  const answers = resumes ? [...readResume(resume), ...results] : [];
  // A resumed run uses the stored history.
  const said = answers.length > 0 ? { history: [], text: '' } : readMessages(messages);
  return {
    threadId,
    runId,
    conversation: { ...said, instructions: instructionsOf(messages, context) },
    answers,
    results: resumes ? [] : results,
    // AG-UI clients without tools send an empty list.
    options: tools.length === 0 ? NO_OPTIONS : { clientTools: readClientTools(tools.map(clientTool)) },
    ...readCaller(forwardedProps),
  };
}

function clientTool({ name, description, parameters }: AgUiTool, index: number): ClientToolBody {
  const sent = { name, description, ...(parameters === undefined ? {} : { parameters: parameters as unknown }) };
  return validated(ClientToolBody, sent, `body/tools/${index}`);
}

/**
 * The results of tools since the user's last message but one at the end. A client repeats earlier ones, and those of the
 * agent's tools.
 */
function readResults(messages: readonly AgUiMessage[]): ApprovalAnswer[] {
  const end = messages.at(-1)?.role === 'user' ? messages.length - 1 : messages.length;
  const from = messages.slice(0, end).findLastIndex(({ role }) => role === 'user') + 1;
  // Ids are unique only within one answer of a model: of two results with one id the older belongs to an earlier call.
  const newest = new Map(
    messages.map((message, index) => [message.role === 'tool' ? message.toolCallId : null, index]),
  );
  return messages.slice(from).flatMap((message, index): ApprovalAnswer[] => {
    if (message.role !== 'tool' || newest.get(message.toolCallId) !== from + index) return [];
    const path = `body/messages/${from + index}`;
    const { toolCallId, content, error } = message;
    const { text, attachments } = userContent(content, `${path}/content`);
    if (attachments.length > 0) throw new ValidationFailed(`${path}/content may have only parts of the type text`);
    const output = toolOutput([text, error ?? ''].filter((part) => part !== '').join('\n\n'), `${path}/content`);
    return [
      {
        refersTo: { toolCallId },
        answer: { type: 'result', output, isError: error !== undefined },
        at: { reference: `${path}/toolCallId ${toolCallId}`, answer: path },
      },
    ];
  });
}

/** Drops the other fields of an entry, which belong to the protocol. */
function readResume(resume: readonly AgUiResumeEntry[]): ApprovalAnswer[] {
  if (resume.length === 0) return [];
  const entries = resume.map(({ interruptId, status, payload }) => ({
    interruptId,
    status,
    ...(payload === undefined || payload === null ? {} : { payload: payload as unknown }),
  }));
  const { resume: read } = validated(ResumeListBody, { resume: entries }, 'body');
  return readAnswers(read);
}

function checkId(id: string, field: string): void {
  const length = [...id].length;
  if (length === 0 || length > MAX_ID) {
    throw new ValidationFailed(`body/${field} must be 1 to ${MAX_ID} characters`);
  }
}

function readMessages(
  messages: readonly AgUiMessage[],
): Pick<Conversation, 'history' | 'text' | 'clientId' | 'attachments'> {
  const attached = new AttachmentCount();
  const said = messages.flatMap((message, index) => {
    const inputMessages = toInputMessage(message, `body/messages/${index}`);
    for (const { attachments = [] } of inputMessages) attached.add(attachments);
    return inputMessages;
  });
  const last = said.at(-1);
  const answered = messages.findLast(({ role }) => role === 'user' || role === 'assistant' || role === 'tool');
  if (last?.role !== 'user' || answered?.role !== 'user') {
    throw new ValidationFailed('body/messages must end with a message of the role user, or tool');
  }
  return {
    history: said.slice(0, -1),
    text: last.content,
    clientId: last.clientId,
    attachments: last.attachments ?? [],
  };
}

function toInputMessage(message: AgUiMessage, path: string): InputMessage[] {
  if (message.role === 'assistant') {
    checkContent(message.content ?? '', `${path}/content`);
    return message.content ? [{ role: 'assistant', content: message.content }] : [];
  }
  if (message.role !== 'user') return [];
  const { text, attachments } = userContent(message.content, `${path}/content`);
  checkContent(text, `${path}/content`);
  checkSaysSomething(text, attachments, `${path}/content`);
  // The protocol does not bound the id; a longer one is not stored.
  const clientId = isText(message.id, { min: 1, max: MAX_ID }) ? message.id : undefined;
  return [{ role: 'user', clientId, content: text, ...(attachments.length > 0 && { attachments }) }];
}

type UserContent = Extract<AgUiMessage, { role: 'user' }>['content'];
type UserPart = Exclude<UserContent, string>[number];

function userContent(content: UserContent, path: string): Content {
  if (typeof content === 'string') return { text: content, attachments: [] };
  return combineParts(content, path, readPart);
}

function readPart(part: UserPart, path: string): Part {
  switch (part.type) {
    case 'text':
      return { text: part.text };
    case 'image':
    case 'document':
      return { file: { ...fileOf(part.source, `${path}/source`), name: nameOf(part.metadata) } };
    case 'audio':
    case 'video':
      throw new ValidationFailed(`${path}/type must be text, image or document: other parts are not accepted`);
    default:
      return part satisfies never;
  }
}

type Source = Extract<UserPart, { type: 'image' }>['source'];

function fileOf(source: Source, path: string): { url: string; contentType: string | undefined } {
  switch (source.type) {
    case 'data':
      return { url: `data:${source.mimeType};base64,${source.value}`, contentType: source.mimeType };
    case 'url':
      return { url: source.value, contentType: source.mimeType };
    case 'file':
      throw new ValidationFailed(`${path}/type must be data or url: a provider’s own files are not accepted`);
    default:
      return source satisfies never;
  }
}

/** AG-UI has no field for the name of a file, so front ends put it into the metadata. */
function nameOf(metadata: unknown): string | undefined {
  if (typeof metadata !== 'object' || metadata === null) return undefined;
  const { filename, name } = metadata as Readonly<Record<string, unknown>>;
  return [filename, name].find((value) => typeof value === 'string' && value !== '') as string | undefined;
}

function instructionsOf(messages: readonly AgUiMessage[], context: readonly AgUiContext[]): string {
  const instructions = messages.flatMap((message, index) => {
    if (message.role !== 'system' && message.role !== 'developer') return [];
    checkContent(message.content, `body/messages/${index}/content`);
    return [message.content];
  });
  const contexts = context.map(({ description, value }) => `${description}: ${value}`);
  const all = [...instructions, ...contexts].filter((part) => part !== '').join('\n\n');
  checkInstructions(all, 'body/messages and body/context');
  return all;
}

/** Front ends may forward other properties, which are ignored. */
function readCaller(forwardedProps: unknown): Pick<AgUiRequest, 'userContext' | 'widget'> {
  if (typeof forwardedProps !== 'object' || forwardedProps === null) return { userContext: null };
  const sent = CALLER_FIELDS.filter((field) => Object.hasOwn(forwardedProps, field));
  const fields = Object.fromEntries(
    sent.map((field) => [field, (forwardedProps as Readonly<Record<string, unknown>>)[field]]),
  );
  const { userContext = null, widget } = validated(RunCallerBody, fields, 'body/forwardedProps');
  return { userContext, widget };
}
