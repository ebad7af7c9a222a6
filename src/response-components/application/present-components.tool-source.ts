import { Injectable } from '@nestjs/common';
import { type OfferedTool, type RunContext, type ToolResult, ToolSource } from '../../conversations/index.js';
import type { JsonObject } from '../../models/index.js';
import type { ComponentKind } from '../domain/component-kind.js';
import { isChoice } from '../domain/component-names.js';
import { COMPONENTS } from '../domain/components.js';
import { TurnLimits } from '../domain/turn-limits.js';
import { isAtLeast } from '../domain/widget-version.js';
import { ComponentsOfRuns } from './components-of-runs.js';

const CHOICE_SHOWN =
  'It was shown to the user. Their answer arrives as their next message: the label that they choose, or their own words. End your reply now, and do not repeat the question or the options as text.';
const SHOWN = 'It was shown to the user. Do not repeat it as text.';

/** The components that a run may show, each as a tool of the model. */
@Injectable()
export class PresentComponents extends ToolSource {
  constructor(private readonly components: ComponentsOfRuns) {
    super();
  }

  async offer(run: RunContext): Promise<readonly OfferedTool[]> {
    const offered = await this.components.of(run);
    const limits = new TurnLimits(run.agent.responseComponents.frequency, run.earlierCalls);
    return offered.map((name) => {
      const kind = COMPONENTS[name];
      // Without awaiting anything, so that parallel calls are counted one after the other.
      const call: OfferedTool['call'] = (input) =>
        Promise.resolve(present(kind, input, limits, run.widget?.version ?? ''));
      return { definition: kind.tool, step: 'tool', effect: 'exempt', call };
    });
  }

  override async namesOf(organizationId: string, agent: RunContext['agent']): Promise<readonly string[]> {
    return (await this.components.ofAgent(organizationId, agent)).map((name) => COMPONENTS[name].tool.name);
  }
}

function present(kind: ComponentKind, input: JsonObject, limits: TurnLimits, widgetVersion: string): ToolResult {
  const refusal = limits.refusal(kind.name);
  if (refusal !== null) return { output: refusal, isError: true };
  const read = kind.read(input);
  if (!read.ok) return { output: [...read.problems, limits.noteWrong()].join('\n'), isError: true };
  limits.noteShown(kind.name);
  const { props, fallback, since } = read.presented;
  return {
    output: isChoice(kind.name) ? CHOICE_SHOWN : SHOWN,
    isError: false,
    component: { component: kind.name, props, fallback, asText: !isAtLeast(widgetVersion, since) },
  };
}
