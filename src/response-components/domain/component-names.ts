import type { ComponentSwitch } from '../../agents/index.js';

/** The components that agents can show. */
export const COMPONENT_NAMES = ['confirm', 'select', 'card', 'list'] as const;

export type ComponentName = (typeof COMPONENT_NAMES)[number];

/** Components that the user answers by choosing in them. */
const CHOICES: ReadonlySet<ComponentName> = new Set<ComponentName>(['confirm', 'select']);

export function isChoice(name: ComponentName): boolean {
  return CHOICES.has(name);
}

/** What each switch of an agent turns on; `table` and `chart` are stored and turn nothing on yet. */
export const COMPONENTS_OF_SWITCHES: Readonly<Record<ComponentSwitch, readonly ComponentName[]>> = {
  choiceButtons: ['confirm', 'select'],
  card: ['card'],
  list: ['list'],
  table: [],
  chart: [],
};

const TOOL_PREFIX = 'present_';

/** The tool with which the model shows the component. */
export function toolNameOf(name: ComponentName): string {
  return `${TOOL_PREFIX}${name}`;
}

/** @returns undefined for a tool that shows nothing */
export function componentOfTool(toolName: string): ComponentName | undefined {
  return COMPONENT_NAMES.find((name) => toolNameOf(name) === toolName);
}
