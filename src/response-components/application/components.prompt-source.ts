import { Injectable } from '@nestjs/common';
import { PromptSource, type RunContext } from '../../conversations/index.js';
import { instructionsFor } from '../domain/instructions.js';
import { ComponentsOfRuns } from './components-of-runs.js';

/** Instructs the model when to show which component. */
@Injectable()
export class ComponentsPromptSource extends PromptSource {
  readonly scope = 'agent';

  constructor(private readonly components: ComponentsOfRuns) {
    super();
  }

  async parts(run: RunContext): Promise<readonly string[]> {
    const instructions = instructionsFor(await this.components.of(run), run.agent.responseComponents.frequency);
    return instructions === null ? [] : [instructions];
  }
}
