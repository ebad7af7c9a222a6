import { type ComponentSwitch, emittedBy, type ResponseComponents } from '../../agents/index.js';
import { type ComponentName, COMPONENTS_OF_SWITCHES } from './component-names.js';

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

/** The components that the run may show where the organization has the feature; none where a condition fails. */
export function offeredComponents({ agent, inWidget, nonInteractive }: OfferConditions): readonly ComponentName[] {
  const { type, disableInteractivePrompts, responseComponents } = agent;
  if (disableInteractivePrompts || nonInteractive || !inWidget || responseComponents.frequency === 'off') return [];
  const isOn = (name: ComponentSwitch): boolean => responseComponents.components[name];
  return emittedBy(type)
    .filter(isOn)
    .flatMap((name) => COMPONENTS_OF_SWITCHES[name]);
}
