import {
  ActivityMessageSchema,
  AssistantMessageSchema,
  AudioPartSchema,
  ContextSchema,
  DataSourceSchema,
  DeveloperMessageSchema,
  DocumentPartSchema,
  FileSourceSchema,
  FunctionCallSchema,
  ImagePartSchema,
  ReasoningMessageSchema,
  ResumeEntrySchema,
  RunAgentInputSchema,
  SystemMessageSchema,
  TextPartSchema,
  ToolCallSchema,
  ToolMessageSchema,
  ToolSchema,
  UrlSourceSchema,
  UserMessageSchema,
  VideoPartSchema,
} from '@ag-ui/core/schemas';
import { z } from 'zod';
import { ValidationFailed } from '../../platform/errors/index.js';
import { MAX_CLIENT_TOOLS } from './client-tools.dto.js';
import { MAX_MESSAGES, MAX_PARTS } from './content-limits.js';

/*
 * AG-UI's own schemas of the run input, adapted to untrusted input. The originals copy every unknown field and create
 * an issue for every wrong element, so a body of 10 MiB takes seconds. Here unknown fields are dropped, lists are
 * counted before they are parsed, and parsing ends at the first wrong element.
 */

export const MAX_ENTRIES = 1_000;

const list = z.custom<readonly unknown[]>(Array.isArray, { error: 'Invalid input: expected array' });

const inputSchema = RunAgentInputSchema.pick({ threadId: true, runId: true, forwardedProps: true })
  .extend({ messages: list, context: list.optional(), tools: list.optional(), resume: list.optional() })
  .strip();

const sourceSchema = z.discriminatedUnion('type', [
  DataSourceSchema.strip(),
  UrlSourceSchema.strip(),
  FileSourceSchema.strip(),
]);

const partSchema = z.discriminatedUnion('type', [
  TextPartSchema.strip(),
  ImagePartSchema.extend({ source: sourceSchema }).strip(),
  AudioPartSchema.extend({ source: sourceSchema }).strip(),
  VideoPartSchema.extend({ source: sourceSchema }).strip(),
  DocumentPartSchema.extend({ source: sourceSchema }).strip(),
]);

const content = z.union([z.string(), z.array(partSchema)]);
const toolCalls = z.array(ToolCallSchema.extend({ function: FunctionCallSchema.strip() }).strip()).optional();

const messageSchema = z.discriminatedUnion('role', [
  DeveloperMessageSchema.strip(),
  SystemMessageSchema.strip(),
  AssistantMessageSchema.extend({ toolCalls }).strip(),
  UserMessageSchema.extend({ content }).strip(),
  ToolMessageSchema.extend({ content }).strip(),
  ActivityMessageSchema.strip(),
  ReasoningMessageSchema.strip(),
]);

const contextSchema = ContextSchema.strip();
const toolSchema = ToolSchema.strip();
const resumeSchema = ResumeEntrySchema.strip();

export type AgUiMessage = z.infer<typeof messageSchema>;
export type AgUiContext = z.infer<typeof contextSchema>;
export type AgUiResumeEntry = z.infer<typeof resumeSchema>;
export type AgUiTool = z.infer<typeof toolSchema>;

export interface AgUiInput {
  readonly threadId: string;
  readonly runId: string;
  readonly messages: readonly AgUiMessage[];
  readonly tools: readonly AgUiTool[];
  readonly context: readonly AgUiContext[];
  readonly resume: readonly AgUiResumeEntry[];
  readonly forwardedProps?: unknown;
}

/** @throws ValidationFailed naming the first field that does not match AG-UI */
export function parseAgUiInput(body: unknown): AgUiInput {
  const { threadId, runId, messages, tools, context, resume, ...rest } = parsed(inputSchema, body ?? {}, 'body');
  checkCount(messages, MAX_MESSAGES, 'body/messages');
  return {
    threadId,
    runId,
    forwardedProps: rest.forwardedProps as unknown,
    messages: messages.map((message, index) => parsedMessage(message, `body/messages/${index}`)),
    tools: parsedList(toolSchema, tools, 'body/tools', MAX_CLIENT_TOOLS),
    context: parsedList(contextSchema, context, 'body/context'),
    resume: parsedList(resumeSchema, resume, 'body/resume'),
  };
}

function parsedMessage(message: unknown, path: string): AgUiMessage {
  if (typeof message === 'object' && message !== null) {
    const { content: parts, toolCalls: calls } = message as {
      readonly content?: unknown;
      readonly toolCalls?: unknown;
    };
    if (Array.isArray(parts)) checkCount(parts, MAX_PARTS, `${path}/content`);
    if (Array.isArray(calls)) checkCount(calls, MAX_PARTS, `${path}/toolCalls`);
  }
  return parsed(messageSchema, message, path);
}

function parsedList<Item>(
  schema: z.ZodType<Item>,
  items: readonly unknown[] = [],
  path: string,
  max = MAX_ENTRIES,
): Item[] {
  checkCount(items, max, path);
  return items.map((item, index) => parsed(schema, item, `${path}/${index}`));
}

function checkCount({ length }: readonly unknown[], max: number, path: string): void {
  if (length > max) throw new ValidationFailed(`${path} must have at most ${max} elements`);
}

function parsed<Read>(schema: z.ZodType<Read>, sent: unknown, path: string): Read {
  const { success, data, error } = schema.safeParse(sent);
  if (success) return data;
  const [issue] = error.issues;
  const at = [path, ...(issue?.path ?? []).map(String)].join('/');
  throw new ValidationFailed(`${at} is not as AG-UI has it: ${issue?.message ?? 'Invalid input'}`);
}
