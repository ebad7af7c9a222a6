import { z } from 'zod';
import type { JsonObject } from '../../models/index.js';
import { sent, type Stored, storedObject } from '../../platform/stored-json/index.js';
import { EVENT_RULES, HOOK_EVENTS, type HookEvent } from './hook-event.js';

/** Replaces the value of a header in a document; the value itself is in the vault. */
export const REDACTED = '<redacted>';

const handlerSettings = {
  /** Whole seconds, from the connection to the end of the response. */
  timeout: z.number().optional(),
  /** Whether a failure blocks the operation. */
  failClosed: z.boolean().optional(),
};

const httpHandler = storedObject({
  ...handlerSettings,
  type: z.literal('http'),
  url: z.string(),
  /** Names as they were sent; every value is `REDACTED`. */
  headers: z.record(z.string(), z.string()).optional(),
});
export type HttpHandler = Stored<typeof httpHandler>;

const toolHandler = storedObject({
  ...handlerSettings,
  type: z.literal('mcp_tool'),
  /** The `app` of one of the agent's custom-mcp integrations. */
  server: z.string(),
  /** The server's own name of the tool. */
  tool: z.string(),
  /** With placeholders such as `${tool_input.path}`. */
  input: sent<JsonObject>().optional(),
});
export type ToolHandler = Stored<typeof toolHandler>;

export type Handler = HttpHandler | ToolHandler;

const matcherGroup = storedObject({
  matcher: z.string().optional(),
  hooks: z.array(z.discriminatedUnion('type', [httpHandler, toolHandler])),
});

const groups = z.array(matcherGroup).optional();

/** The hooks of an agent by event, without secrets. */
export const hooksDocument = storedObject(
  Object.fromEntries(HOOK_EVENTS.map((event) => [event, groups])) as Record<HookEvent, typeof groups>,
);
export type HooksDocument = Stored<typeof hooksDocument>;

export interface PlacedHandler<Kind extends Handler = Handler> {
  readonly event: HookEvent;
  /** Index among the handlers of the event, over all groups. */
  readonly index: number;
  readonly matcher: string | undefined;
  readonly handler: Kind;
  /** For messages, such as `hooks.PreToolUse[0].hooks[1]`. */
  readonly path: string;
}

/** The handlers of an event in document order. */
export function handlersOf(document: HooksDocument, event: HookEvent): PlacedHandler[] {
  const placed: PlacedHandler[] = [];
  for (const [group, { matcher, hooks }] of (document[event] ?? []).entries()) {
    for (const [position, handler] of hooks.entries()) {
      placed.push({
        event,
        index: placed.length,
        matcher,
        handler,
        path: `hooks.${event}[${group}].hooks[${position}]`,
      });
    }
  }
  return placed;
}

export function allHandlers(document: HooksDocument): PlacedHandler[] {
  return HOOK_EVENTS.flatMap((event) => handlersOf(document, event));
}

export function isHttp(placed: PlacedHandler): placed is PlacedHandler<HttpHandler> {
  return placed.handler.type === 'http';
}

export function isTool(placed: PlacedHandler): placed is PlacedHandler<ToolHandler> {
  return placed.handler.type === 'mcp_tool';
}

export function timeoutMsOf({ event, handler }: Pick<PlacedHandler, 'event' | 'handler'>): number {
  return 1_000 * (handler.timeout ?? EVENT_RULES[event].timeoutSeconds);
}
