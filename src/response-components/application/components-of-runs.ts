import { Injectable } from '@nestjs/common';
import { OrganizationDirectory } from '../../access/index.js';
import type { RunContext } from '../../conversations/index.js';
import { AttachedValue } from '../../platform/heap/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import { type ComponentName, offeredComponents } from '../domain/component-names.js';

/** The components that active runs may show. Read once a run, so that its tools and its prompt name the same components. */
@Injectable()
export class ComponentsOfRuns {
  private readonly runs = new AttachedValue<RunContext, Promise<readonly ComponentName[]>>();

  constructor(
    private readonly organizations: OrganizationDirectory,
    private readonly logger: Logger,
  ) {}

  of(run: RunContext): Promise<readonly ComponentName[]> {
    const offered = this.runs.get(run) ?? this.read(run);
    this.runs.set(run, offered);
    return offered;
  }

  /** The components that the agent's runs in a widget may show. */
  ofAgent(organizationId: string, agent: RunContext['agent']): Promise<readonly ComponentName[]> {
    return this.permitted(organizationId, offeredComponents({ agent, nonInteractive: false, inWidget: true }));
  }

  private async read(run: RunContext): Promise<readonly ComponentName[]> {
    const { agent, nonInteractive, widget, organizationId, runId, options } = run;
    // The reply is a document, beside which nothing can be shown.
    if (options.responseFormat) return [];
    try {
      return await this.permitted(
        organizationId,
        offeredComponents({ agent, nonInteractive, inWidget: widget !== null }),
      );
    } catch (error) {
      this.logger.warn({ err: error, runId }, 'The organization cannot be read; the run has no response components');
      return [];
    }
  }

  private async permitted(
    organizationId: string,
    offered: readonly ComponentName[],
  ): Promise<readonly ComponentName[]> {
    if (offered.length === 0) return [];
    const organization = await this.organizations.find(organizationId);
    return organization?.features.has('response_components') === true ? offered : [];
  }
}
