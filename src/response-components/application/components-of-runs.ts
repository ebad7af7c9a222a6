import { Injectable } from '@nestjs/common';
import { OrganizationDirectory } from '../../access/index.js';
import type { RunContext } from '../../conversations/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import type { ComponentName } from '../domain/component-names.js';
import { offeredComponents } from '../domain/offered-components.js';

const NONE: readonly ComponentName[] = [];

/** Which components runs under way may show: the tools and the prompt of a run tell of the same ones. */
@Injectable()
export class ComponentsOfRuns {
  /** Kept with the run itself, so nothing has to be cleaned up after it. */
  private readonly runs = new WeakMap<RunContext, Promise<readonly ComponentName[]>>();

  constructor(
    private readonly organizations: OrganizationDirectory,
    private readonly logger: Logger,
  ) {}

  of(run: RunContext): Promise<readonly ComponentName[]> {
    const known = this.runs.get(run);
    if (known) return known;
    const offered = this.read(run);
    this.runs.set(run, offered);
    return offered;
  }

  private async read(run: RunContext): Promise<readonly ComponentName[]> {
    const { agent, nonInteractive, widget, organizationId, runId } = run;
    const offered = offeredComponents({ agent, nonInteractive, inWidget: widget !== null });
    if (offered.length === 0) return NONE;
    try {
      const organization = await this.organizations.find(organizationId);
      return organization?.features.has('response_components') === true ? offered : NONE;
    } catch (error) {
      this.logger.warn(
        { err: error, runId },
        'It is not known whether an organization has response components; the run goes on without them',
      );
      return NONE;
    }
  }
}
