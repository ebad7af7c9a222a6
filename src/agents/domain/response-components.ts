import { z } from 'zod';
import { providerOf } from '../../models/index.js';
import { type Stored, storedObject } from '../../platform/stored-json/index.js';
import type { AgentType } from './agent-type.js';
import { AgentRefused, UnsupportedForAgentType } from './agents.errors.js';

export const FREQUENCIES = ['off', 'low', 'medium', 'high'] as const;

export type Frequency = (typeof FREQUENCIES)[number];

/** `catch` because rows may have been edited by hand: a stored value that is not a boolean reads as the default. */
const toggle = (initial: boolean) => z.boolean().default(initial).catch(initial);

/** In the order of responses. */
const components = storedObject({
  choiceButtons: toggle(true),
  card: toggle(true),
  list: toggle(false),
  table: toggle(false),
  chart: toggle(false),
});
export type ComponentMap = Stored<typeof components>;
export type ComponentSwitch = keyof ComponentMap;

export const COMPONENT_SWITCHES = Object.keys(components.shape) as readonly ComponentSwitch[];

/** Which interactive components the agent may offer, and how often. */
export const responseComponents = storedObject({
  frequency: z.enum(FREQUENCIES).default('off').catch('off'),
  components: components.prefault({}),
});
export type ResponseComponents = Stored<typeof responseComponents>;

/** The switches whose components an agent of this type can emit. */
export function emittedBy(type: AgentType): readonly ComponentSwitch[] {
  if (type === 'classic') return [];
  const { responseComponents } = providerOf(type);
  if (responseComponents === 'all') return COMPONENT_SWITCHES;
  return COMPONENT_SWITCHES.filter((name) => responseComponents.includes(name));
}

export interface ResponseComponentsChange {
  readonly frequency?: Frequency;
  readonly components?: Readonly<Partial<Record<ComponentSwitch, boolean>>>;
}

/** @throws AgentRefused `bad_request` naming the field and what is allowed */
export function readComponentsChange(sent: unknown): ResponseComponentsChange {
  const { frequency, components = {} } = requireObject(sent, 'responseComponents', ['frequency', 'components']);
  const switches = requireObject(components, 'responseComponents.components', COMPONENT_SWITCHES);
  for (const [name, value] of Object.entries(switches)) {
    if (typeof value !== 'boolean') throw malformed(`responseComponents.components.${name} must be true or false.`);
  }
  const known = FREQUENCIES.find((candidate) => candidate === frequency);
  if (frequency !== undefined && known === undefined) {
    throw malformed(`responseComponents.frequency must be one of ${FREQUENCIES.join(', ')}.`);
  }
  return { frequency: known, components: switches };
}

function requireObject(sent: unknown, path: string, known: readonly string[]): Readonly<Record<string, unknown>> {
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) throw malformed(`${path} must be an object.`);
  const unknown = Object.keys(sent).find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw malformed(`${path}.${unknown.slice(0, 100)} is not known; allowed are ${known.join(', ')}.`);
  }
  return sent as Readonly<Record<string, unknown>>;
}

function malformed(message: string): AgentRefused {
  return new AgentRefused('bad_request', message);
}

/**
 * The response components after a change. Switching off is always allowed, and so is sending again what is already on.
 * @throws UnsupportedForAgentType naming the switches, or the frequency, that agents of this type cannot use
 */
export function updateComponents(
  type: AgentType,
  current: ResponseComponents,
  change: ResponseComponentsChange,
): ResponseComponents {
  const emitted = emittedBy(type);
  const { frequency = current.frequency, components = {} } = change;
  if (frequency !== 'off' && change.frequency !== undefined && emitted.length === 0) {
    throw new UnsupportedForAgentType(
      `responseComponents.frequency: ${type} agents cannot emit response components; only "off" is allowed.`,
    );
  }
  const refused = COMPONENT_SWITCHES.filter(
    (name) => components[name] === true && !current.components[name] && !emitted.includes(name),
  );
  if (refused.length > 0) {
    throw new UnsupportedForAgentType(
      `responseComponents.components: ${type} agents cannot emit ${refused.join(', ')}; leave ${
        refused.length === 1 ? 'it' : 'them'
      } off.`,
    );
  }
  return { ...current, frequency, components: { ...current.components, ...components } };
}
