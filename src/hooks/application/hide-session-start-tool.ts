import { Injectable, type OnModuleInit } from '@nestjs/common';
import { HiddenTools } from '../../integrations/index.js';
import { HooksOfRuns } from './hooks-of-runs.js';

/** The tool of a session-start hook is the service's to call, and no model is offered it. */
@Injectable()
export class HideSessionStartTool implements OnModuleInit {
  constructor(
    private readonly hiddenTools: HiddenTools,
    private readonly hooks: HooksOfRuns,
  ) {}

  onModuleInit(): void {
    this.hiddenTools.register(async (run) => {
      const { sessionStart } = await this.hooks.of(run);
      return sessionStart ? [{ app: sessionStart.app, tool: sessionStart.toolName }] : [];
    });
  }
}
