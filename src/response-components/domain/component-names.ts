import { type ComponentSwitch, emittedBy, type ResponseComponents } from '../../agents/index.js';

/** The components that agents can show. */
export const COMPONENT_NAMES = ['confirm', 'select', 'card', 'list'] as const;

export type ComponentName = (typeof COMPONENT_NAMES)[number];

/** Whether the user answers by choosing in the component. */
export function isChoice(name: ComponentName): boolean {
  return name === 'confirm' || name === 'select';
}

/** The components of each switch of an agent. `table` and `chart` are stored, and have no components yet. */
const COMPONENTS_OF_SWITCHES: Readonly<Record<ComponentSwitch, readonly ComponentName[]>> = {
  choiceButtons: ['confirm', 'select'],
  card: ['card'],
  list: ['list'],
  table: [],
  chart: [],
};

/** The tool with which the model shows the component. */
export function toolNameOf(name: ComponentName): string {
  return `present_${name}`;
}

/** @returns undefined for other tools */
export function componentOfTool(toolName: string): ComponentName | undefined {
  return COMPONENT_NAMES.find((name) => toolNameOf(name) === toolName);
}

/** What decides which components a run may show. */
export interface OfferConditions {
  readonly agent: {
    readonly type: Parameters<typeof emittedBy>[0];
    readonly disableInteractivePrompts: boolean;
    readonly responseComponents: ResponseComponents;
  };
  /** The run's caller is a widget. */
  readonly inWidget: boolean;
  /** No user waits for the reply. */
  readonly nonInteractive: boolean;
}

/** The components that the run may show if the organization has the feature. */
export function offeredComponents({ agent, inWidget, nonInteractive }: OfferConditions): readonly ComponentName[] {
  const { type, disableInteractivePrompts, responseComponents } = agent;
  if (disableInteractivePrompts || nonInteractive || !inWidget || responseComponents.frequency === 'off') return [];
  const switchedOn = emittedBy(type).filter((name) => responseComponents.components[name]);
  return switchedOn.flatMap((name) => COMPONENTS_OF_SWITCHES[name]);
}
