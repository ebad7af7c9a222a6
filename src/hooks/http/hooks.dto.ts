import type { JsonObject } from '../../models/index.js';
import {
  EnumField,
  field,
  type FieldOptions,
  IntegerField,
  JsonObjectField,
  ObjectListField,
  rule,
  StringField,
  StringMapField,
  TimestampField,
} from '../../platform/http/index.js';
import { type HookCall, type HookOutcome, outcomeOf, verdictOf } from '../domain/hook-call.js';
import { HOOK_EVENTS, type HookEvent } from '../domain/hook-event.js';
import type { HooksDocument } from '../domain/hooks-document.js';
import { HOOKS_DOCUMENT_SCHEMA } from '../domain/read-document.js';
import type { SessionStartHook } from '../domain/session-start.js';
import { MAX_SESSION_START_TIMEOUT_MS, MAX_STRING, SESSION_START_TIMEOUT_MS } from '../limits.js';

const OUTCOMES = ['ok', 'failed', 'blocked'] as const satisfies readonly HookOutcome[];
const HANDLER_TYPES = ['http', 'mcp_tool'] as const;
const MAX_STATIC_ARGS = 1_000;
const NAME = { min: 1, max: MAX_STRING } as const;

/** Only its presence is checked here: the use case reads it and names the path of a fault. */
function HooksDocumentField(options: FieldOptions): PropertyDecorator {
  const isPresent = (value: unknown): boolean => value !== undefined;
  return field(options, HOOKS_DOCUMENT_SCHEMA, rule('isPresent', isPresent, { message: 'is required' }));
}

export class HooksBody {
  @HooksDocumentField({ description: 'The whole document; events that are not named have no hooks.' })
  readonly hooks!: unknown;
}

export class HooksResponse {
  @HooksDocumentField({ description: 'Values of headers read `<redacted>`. `{}` when there are no hooks.' })
  readonly hooks!: HooksDocument;
}

export class SessionStartHookSettings {
  @StringField({ ...NAME, description: 'The app of the custom-mcp integration whose server has the tool.' })
  readonly app!: string;
  @StringField({ ...NAME, description: "The server's own name of the tool, which the model is not offered." })
  readonly toolName!: string;
  @IntegerField({
    min: 1,
    optional: true,
    description:
      `In milliseconds, ${SESSION_START_TIMEOUT_MS} by default and ${MAX_SESSION_START_TIMEOUT_MS} at most; a larger value counts as that. ` +
      'After this time the thread continues without contexts.',
  })
  readonly timeoutMs?: number;
  @StringMapField({
    maxEntries: MAX_STATIC_ARGS,
    maxKeyLength: MAX_STRING,
    maxValueLength: MAX_STRING,
    optional: true,
    description: "Constants, not secrets. Only those that the tool's input schema declares are passed.",
  })
  readonly staticArgs?: Readonly<Record<string, string>>;
}

export class SigningSecretResponse {
  @StringField({ description: 'In the format of Standard Webhooks: `whsec_` and base64. Shown only in this response.' })
  readonly secret!: string;
  @TimestampField({ description: 'When it was created. The previous secret signs for 24 more hours.' })
  readonly createdAt!: string;
}

export class TestHooksBody {
  @EnumField(HOOK_EVENTS, { description: 'The event whose stored handlers are called.' })
  readonly event!: HookEvent;
  @JsonObjectField({
    optional: true,
    description:
      'Fields of the input; missing ones get sample values. With `tool_name` (or `source`) only the handlers whose matcher matches it ' +
      'are called, without it all of them.',
  })
  readonly input?: JsonObject;
}

export class HookTestResultResponse {
  @EnumField(HOOK_EVENTS, { description: 'The event that was tested.' })
  readonly event!: HookEvent;
  @IntegerField({ min: 0, description: 'Index among the handlers of the event, over all groups, from 0.' })
  readonly handler!: number;
  @EnumField(HANDLER_TYPES, { description: 'What kind of handler it is.' })
  readonly type!: (typeof HANDLER_TYPES)[number];
  @EnumField(OUTCOMES, { description: '`blocked`: the handler, or its failure, would have blocked the operation.' })
  readonly outcome!: HookOutcome;
  @JsonObjectField({
    nullable: true,
    description:
      "The handler's output: those of `decision`, `reason`, `additionalContext` (an array), `permissionDecision`, `permissionDecisionReason` and " +
      '`updatedInput` that it set; `{decision: "block"}` when its failure blocks; null when it failed without blocking.',
  })
  readonly verdict!: JsonObject | null;
  @IntegerField({ min: 0, description: 'How long the handler took, in milliseconds.' })
  readonly latencyMs!: number;
  @StringField({ nullable: true, description: 'Why it failed.' })
  readonly error!: string | null;
}

export class TestHooksResponse {
  @ObjectListField(() => HookTestResultResponse, { description: 'In the order of the handlers.' })
  readonly results!: readonly HookTestResultResponse[];
}

export function testResultView(call: HookCall): HookTestResultResponse {
  const { placed, latencyMs, error } = call;
  const {
    event,
    index: handler,
    handler: { type },
  } = placed;
  const verdict = verdictOf(call);
  return { event, handler, type, outcome: outcomeOf(call), verdict: verdict && { ...verdict }, latencyMs, error };
}

/** A plain object without undefined fields, so that it compares equal to the stored one. */
export function toSessionStartHook({
  app,
  toolName,
  timeoutMs,
  staticArgs,
}: SessionStartHookSettings): SessionStartHook {
  return {
    ...{ app, toolName },
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(staticArgs === undefined ? {} : { staticArgs: { ...staticArgs } }),
  };
}
