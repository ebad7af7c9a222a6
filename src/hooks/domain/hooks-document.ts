import type { JsonObject } from '../../models/index.js';
import { EVENT_RULES, HOOK_EVENTS, type HookEvent } from './hook-event.js';

/** Stands in a document for the value of a header, which is in the vault. */
export const REDACTED = '<redacted>';

interface HandlerSettings {
  /** Whole seconds for everything. */
  readonly timeout?: number;
  /** A failure blocks what the event is about. */
  readonly failClosed?: boolean;
}

export interface HttpHandler extends HandlerSettings {
  readonly type: 'http';
  readonly url: string;
  /** Names as they were written; every value is `REDACTED`. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ToolHandler extends HandlerSettings {
  readonly type: 'mcp_tool';
  /** The `app` of one of the agent's custom-mcp integrations. */
  readonly server: string;
  /** The server's own name of the tool. */
  readonly tool: string;
  /** With placeholders such as `${tool_input.path}`. */
  readonly input?: JsonObject;
}

export type Handler = HttpHandler | ToolHandler;

export interface MatcherGroup {
  readonly matcher?: string;
  readonly hooks: readonly Handler[];
}

/** What a customer wants to be called, by event; without secrets. */
export type HooksDocument = Readonly<Partial<Record<HookEvent, readonly MatcherGroup[]>>>;

/** A handler with what its group says. */
export interface PlacedHandler<Kind extends Handler = Handler> {
  readonly event: HookEvent;
  /** Among the handlers of its event, over all groups. */
  readonly index: number;
  readonly matcher: string | undefined;
  readonly handler: Kind;
  /** Names it in messages, such as `hooks.PreToolUse[0].hooks[1]`. */
  readonly path: string;
}

/** The handlers of an event in their order. */
export function handlersOf(document: HooksDocument, event: HookEvent): PlacedHandler[] {
  const placed: PlacedHandler[] = [];
  for (const [group, { matcher, hooks }] of (document[event] ?? []).entries()) {
    for (const [position, handler] of hooks.entries()) {
      placed.push({ event, index: placed.length, matcher, handler, path: `hooks.${event}[${group}].hooks[${position}]` });
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

/** How long the handler may take. */
export function timeoutMsOf({ event, handler }: Pick<PlacedHandler, 'event' | 'handler'>): number {
  return 1_000 * (handler.timeout ?? EVENT_RULES[event].timeoutSeconds);
}
