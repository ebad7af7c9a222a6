import { z } from 'zod';
import { type Stored, storedObject } from '../../platform/stored-json/index.js';
import { agentGateway } from './agent-gateway.js';
import { knowledgeSearch } from './knowledge-search.js';
import { providerSettings } from './provider-settings.js';
import { responseComponents } from './response-components.js';

export const TIMEOUT_MINUTES = { min: 1, max: 20, default: 6 } as const;

const toolSettings = storedObject({
  /** Approval before tools that change something. */
  requireApprovalForResourceChanges: z.boolean().default(false),
  /** Approval before every tool call; supersedes the other flag. */
  requireApprovalBeforeToolCalls: z.boolean().default(false),
});
export type ToolSettings = Stored<typeof toolSettings>;

/**
 * The settings without a rule of their own: a sent value replaces the stored one, and reads show it. Requests and answers have a
 * boolean as `{enabled}`, and a request may send part of an object. `docs/extending.md` describes how to add one.
 */
const plainSettings = storedObject({
  tools: toolSettings.prefault({}),
  longTermMemory: z.boolean().default(true),
  toolProgress: z.boolean().default(true),
  knowledgeSearch: knowledgeSearch.prefault({}),
  /** How long one run may take, in minutes (`TIMEOUT_MINUTES`). */
  timeoutMinutes: z.number().default(TIMEOUT_MINUTES.default),
});
export type PlainSettings = Stored<typeof plainSettings>;

/** Everything about an agent except its name and prompt. Reads what any release stored. */
export const agentSettings = storedObject({
  ...plainSettings.shape,
  provider: providerSettings,
  responseComponents: responseComponents.prefault({}),
  /** `knowledgeSearch.scoreThreshold` has been sent; no read shows it. Undefined where that was never noted. */
  scoreThresholdSet: z.boolean().optional(),
  /** The agent's own gateway setting; null uses the organization's. `AgentRouting` resolves the two. */
  aiGateway: agentGateway.nullable().default(null),
  /** Set by the operator alone; withdraws every interactive component, whatever the response components say. */
  disableInteractivePrompts: z.boolean().default(false),
});
export type AgentSettings = Stored<typeof agentSettings>;

/** The agent itself as a version stores it: everything except its type, which the operator sets, and its secrets. */
export const agentSnapshot = storedObject({ name: z.string(), systemPrompt: z.string(), settings: agentSettings });
export type AgentSnapshot = Stored<typeof agentSnapshot>;

type Sent<Value> = Value extends boolean
  ? { readonly enabled: boolean }
  : Value extends object
    ? Partial<Value>
    : Value;
type Shown<Value> = Value extends boolean ? { readonly enabled: boolean } : Value;

/** The settings as requests have them; absent and undefined ones were not sent. */
export type SentSettings = { readonly [Name in keyof PlainSettings]?: Sent<PlainSettings[Name]> };
/** The settings as reads and versions show them. */
export type ShownSettings = { readonly [Name in keyof PlainSettings]: Shown<PlainSettings[Name]> };

const PLAIN = Object.keys(plainSettings.shape) as readonly (keyof PlainSettings)[];

export function changedPlain(current: PlainSettings, sent: SentSettings): PlainSettings {
  return Object.fromEntries(
    PLAIN.map((name) => [name, changed(current[name], sent[name])]),
  ) as unknown as PlainSettings;
}

function changed(current: unknown, sent: unknown): unknown {
  if (sent === undefined) return current;
  if (typeof current === 'boolean') return (sent as { readonly enabled: boolean }).enabled;
  return isObject(current) && isObject(sent) ? { ...current, ...withoutUndefined(sent) } : sent;
}

export function shownPlain(settings: PlainSettings): ShownSettings {
  return Object.fromEntries(PLAIN.map((name) => [name, shown(settings[name])])) as unknown as ShownSettings;
}

function shown(value: unknown): unknown {
  return typeof value === 'boolean' ? { enabled: value } : value;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function withoutUndefined(sent: object): object {
  return Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== undefined));
}
