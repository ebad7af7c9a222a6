import { Injectable } from '@nestjs/common';
import type { RunContext } from '../../conversations/index.js';

/** A tool of one of an agent's custom-mcp integrations. */
export interface AppToolName {
  readonly app: string;
  /** As the server names it. */
  readonly tool: string;
}

export type HiddenToolSource = (run: RunContext) => Promise<readonly AppToolName[]>;

/** Tools of integrations that models are not offered. Other contexts register sources of them in constructors. */
@Injectable()
export class HiddenTools {
  private readonly sources: HiddenToolSource[] = [];

  register(source: HiddenToolSource): void {
    this.sources.push(source);
  }

  async of(run: RunContext): Promise<readonly AppToolName[]> {
    return (await Promise.all(this.sources.map((source) => source(run)))).flat();
  }
}
