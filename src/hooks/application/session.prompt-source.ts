import { Injectable } from '@nestjs/common';
import { PromptSource, type RunContext } from '../../conversations/index.js';
import { promptParts } from '../domain/session-start.js';
import { HooksOfRuns } from './hooks-of-runs.js';

/** Adds the contexts of a thread's session to the prompt of each of its runs. */
@Injectable()
export class SessionPromptSource extends PromptSource {
  readonly scope = 'conversation';

  constructor(private readonly hooks: HooksOfRuns) {
    super();
  }

  async parts(run: RunContext): Promise<readonly string[]> {
    return promptParts(await this.hooks.sessionOf(run));
  }
}
