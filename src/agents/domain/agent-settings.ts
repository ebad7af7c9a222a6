import { z } from 'zod';
import { type Stored, storedObject } from '../../platform/stored-json/index.js';
import { agentGateway } from './agent-gateway.js';
import { providerSettings } from './provider-settings.js';
import { responseComponents } from './response-components.js';

export const TIMEOUT_MINUTES = { min: 1, max: 20, default: 6 } as const;

/** The search settings of an agent's knowledge. */
export const knowledgeSearch = storedObject({
  maxResults: z.number().default(5),
  /** 0 to 1; results with a lower score are dropped. */
  scoreThreshold: z.number().default(0.444),
  /** 0 ranks by keywords only, 1 by meaning only. */
  semanticWeight: z.number().default(0.4),
});
export type KnowledgeSearch = Stored<typeof knowledgeSearch>;

export const DEFAULT_KNOWLEDGE_SEARCH: KnowledgeSearch = knowledgeSearch.parse({});

/**
 * Whether a caller chose the agent's threshold. The default is not meant for scores of a search by keywords alone. For agents of
 * releases that did not store the choice, a value other than the default counts as chosen.
 */
export function isThresholdSet(search: KnowledgeSearch, stored: boolean | undefined): boolean {
  return stored ?? search.scoreThreshold !== DEFAULT_KNOWLEDGE_SEARCH.scoreThreshold;
}

export const RUN_STEPS = { min: 1, max: 1_000 } as const;

/** What a run may use, together with the runs that it resumes; null for no limit. */
const runLimits = storedObject({
  /** Calls of the model. */
  maxSteps: z.number().nullable().default(null),
  maxCredits: z.number().nullable().default(null),
});
export type RunLimits = Stored<typeof runLimits>;

export const NO_RUN_LIMITS: RunLimits = runLimits.parse({});

const toolSettings = storedObject({
  /** Approval before calls of tools that change something. */
  requireApprovalForResourceChanges: z.boolean().default(false),
  /** Approval before every tool call, whatever the other flag says. */
  requireApprovalBeforeToolCalls: z.boolean().default(false),
});
export type ToolSettings = Stored<typeof toolSettings>;

/**
 * The settings without rules: a value in a request replaces the stored one, and responses show it. In requests and responses a
 * boolean is `{enabled}`, and a request may send a part of an object. `docs/extending/agent-setting.md` describes how to add one.
 */
const plainSettings = storedObject({
  tools: toolSettings.prefault({}),
  longTermMemory: z.boolean().default(true),
  toolProgress: z.boolean().default(true),
  knowledgeSearch: knowledgeSearch.prefault({}),
  /** Of one run. */
  timeoutMinutes: z.number().default(TIMEOUT_MINUTES.default),
  runLimits: runLimits.prefault({}),
});
export type PlainSettings = Stored<typeof plainSettings>;

/** Everything of an agent except its name and prompt. Reads rows that any release stored. */
export const agentSettings = storedObject({
  ...plainSettings.shape,
  provider: providerSettings,
  responseComponents: responseComponents.prefault({}),
  /** Whether a request has set `knowledgeSearch.scoreThreshold`; not in responses. Undefined in rows of releases that did not store it. */
  scoreThresholdSet: z.boolean().optional(),
  /** Null uses the organization's gateway. `AgentRouting` decides between the two. */
  aiGateway: agentGateway.nullable().default(null),
  /** Only the operator sets it. It disables every interactive component, whatever `responseComponents` says. */
  disableInteractivePrompts: z.boolean().default(false),
});
export type AgentSettings = Stored<typeof agentSettings>;

/** The agent in a version: everything except its secrets and its type, which the operator sets. */
export const agentSnapshot = storedObject({ name: z.string(), systemPrompt: z.string(), settings: agentSettings });
export type AgentSnapshot = Stored<typeof agentSnapshot>;

type Sent<Value> = Value extends boolean
  ? { readonly enabled: boolean }
  : Value extends object
    ? Partial<Value>
    : Value;
type Shown<Value> = Value extends boolean ? { readonly enabled: boolean } : Value;

/** The settings in requests; absent and undefined ones were not sent. */
export type SentSettings = { readonly [Name in keyof PlainSettings]?: Sent<PlainSettings[Name]> };
/** The settings in responses and versions. */
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
