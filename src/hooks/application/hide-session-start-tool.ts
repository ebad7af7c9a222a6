import { Injectable, type OnModuleInit } from '@nestjs/common';
import { HiddenTools } from '../../integrations/index.js';
import { HooksOfRuns } from './hooks-of-runs.js';

/** Hides the tool of a session-start hook from models: only the service calls it. */
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
