import type { JsonObject } from '../../models/index.js';
import {
  EnumField,
  IntegerField,
  JsonObjectField,
  ObjectListField,
  StringField,
  StringMapField,
  TimestampField,
} from '../../platform/http/index.js';
import { type HookCall, type HookOutcome, outcomeOf, verdictOf } from '../domain/hook-call.js';
import { HOOK_EVENTS, type HookEvent } from '../domain/hook-event.js';
import type { HooksDocument } from '../domain/hooks-document.js';
import type { SessionStartHook } from '../domain/session-start.js';
import { MAX_SESSION_START_TIMEOUT_MS, MAX_STRING, SESSION_START_TIMEOUT_MS } from '../limits.js';
import { HooksDocumentField } from './hooks-document.field.js';

const OUTCOMES = ['ok', 'failed', 'blocked'] as const satisfies readonly HookOutcome[];
const HANDLER_TYPES = ['http', 'mcp_tool'] as const;
const MAX_STATIC_ARGS = 1_000;
const NAME = { min: 1, max: MAX_STRING } as const;

export class HooksBody {
  @HooksDocumentField({ description: 'The whole document; events that are not named have no hooks.' })
  readonly hooks!: unknown;
}

export class HooksResponse {
  @HooksDocumentField({ description: 'Values of headers read `<redacted>`. `{}` when there are no hooks.' })
  readonly hooks!: HooksDocument;
}

export class SessionStartHookBody {
  @StringField({ ...NAME, description: 'The app of the custom-mcp integration whose server has the tool.' })
  readonly app!: string;
  @StringField({ ...NAME, description: "The server's own name of the tool, which the model is not offered." })
  readonly toolName!: string;
  @IntegerField({
    min: 1,
    optional: true,
    description:
      `In milliseconds, ${SESSION_START_TIMEOUT_MS} by default; the thread goes on without context when it is over. No call takes longer ` +
      `than ${MAX_SESSION_START_TIMEOUT_MS}, whatever is said here.`,
  })
  readonly timeoutMs?: number;
  @StringMapField({
    maxEntries: MAX_STATIC_ARGS,
    maxKeyLength: MAX_STRING,
    maxValueLength: MAX_STRING,
    optional: true,
    description: "Constants that are no secrets; those are passed that the tool's input schema declares.",
  })
  readonly staticArgs?: Readonly<Record<string, string>>;
}

export class SessionStartHookResponse extends SessionStartHookBody {}

export class SigningSecretResponse {
  @StringField({ description: 'In the form of Standard Webhooks, `whsec_` and base64. Shown this once.' })
  readonly secret!: string;
  @TimestampField({ description: 'When it was made. The one before it signs for 24 hours more.' })
  readonly createdAt!: string;
}

export class TestHooksBody {
  @EnumField(HOOK_EVENTS, { description: 'The event whose stored handlers are called.' })
  readonly event!: HookEvent;
  @JsonObjectField({
    optional: true,
    description:
      'Fields of the input; those that it leaves out are made up. With `tool_name` (or `source`) only the handlers whose matcher takes ' +
      'it are asked, and all of them without.',
  })
  readonly input?: JsonObject;
}

export class HookTestResultResponse {
  @EnumField(HOOK_EVENTS, { description: 'The event that was tested.' })
  readonly event!: HookEvent;
  @IntegerField({ min: 0, description: 'Among the handlers of the event, over all groups, from 0.' })
  readonly handler!: number;
  @EnumField(HANDLER_TYPES, { description: 'What kind of handler it is.' })
  readonly type!: (typeof HANDLER_TYPES)[number];
  @EnumField(OUTCOMES, {
    description: '`blocked`: the handler, or its failure, would have stopped what the event is about.',
  })
  readonly outcome!: HookOutcome;
  @JsonObjectField({
    nullable: true,
    description:
      'What the handler said, of `decision`, `reason`, `additionalContext` (an array), `permissionDecision`, `permissionDecisionReason` and ' +
      '`updatedInput`; `{decision: "block"}` where its failure blocks; null where it failed and nothing is blocked.',
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

/** As plain data; what is not said is not there. */
export function sessionStartHookOf({ app, toolName, timeoutMs, staticArgs }: SessionStartHookBody): SessionStartHook {
  return {
    ...{ app, toolName },
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(staticArgs === undefined ? {} : { staticArgs: { ...staticArgs } }),
  };
}
