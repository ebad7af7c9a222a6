import { Injectable } from '@nestjs/common';
import { type ApiKeyPrincipal, ForbiddenByAgentAllowlist, mayUseAgent } from '../../access/index.js';
import { Clock } from '../../platform/clock/index.js';
import { Cursors, type CursorScope, type Page } from '../../platform/cursors/index.js';
import { oldestOpenRequests } from '../domain/approval.js';
import { LONGEST_RUN_MS, type Run, type RunStatus, withOpenRequests } from '../domain/run.js';
import { type RunFilter, RunList } from '../persistence/run-list.repository.js';

/** A page of a list of runs. */
export interface RunQuery {
  readonly statuses?: readonly RunStatus[] | undefined;
  /** Only runs with requests that can be answered. */
  readonly open: boolean;
  readonly cursor?: string | undefined;
  readonly limit: number;
}

export interface OrganizationRunQuery extends RunQuery {
  readonly assistantId?: string | undefined;
  readonly createdAfter?: Date | undefined;
}

/** Lists runs with those of their requests that can still be answered, the newest run first. */
@Injectable()
export class ListRuns {
  constructor(
    private readonly runs: RunList,
    private readonly cursors: Cursors,
    private readonly clock: Clock,
  ) {}

  /** @param threadId of a thread that the caller may see. @throws ValidationFailed for a cursor of another list */
  ofThread({ organizationId }: ApiKeyPrincipal, threadId: string, query: RunQuery): Promise<Page<Run>> {
    const scope = { list: `runs of ${threadId}`, organizationId };
    return this.page(scope, query, { threadId, agentIds: null, createdAfter: null });
  }

  /**
   * The runs that the caller may see. An agent that does not exist has none.
   * @throws ForbiddenByAgentAllowlist, ValidationFailed for a cursor of another list
   */
  async ofOrganization(caller: ApiKeyPrincipal, query: OrganizationRunQuery): Promise<Page<Run>> {
    const { assistantId, createdAfter = null } = query;
    if (assistantId !== undefined && !mayUseAgent(caller, assistantId)) throw new ForbiddenByAgentAllowlist();
    const allowed = caller.agentIds && [...caller.agentIds];
    const scope = { list: 'runs', organizationId: caller.organizationId };
    return this.page(scope, query, { agentIds: assistantId === undefined ? allowed : [assistantId], createdAfter });
  }

  private async page(
    scope: CursorScope,
    { statuses, open, cursor, limit }: RunQuery,
    filter: Pick<RunFilter, 'threadId' | 'agentIds' | 'createdAfter'>,
  ): Promise<Page<Run>> {
    const now = this.clock.now();
    const [createdAt, id] = this.cursors.read(scope, cursor);
    const after = createdAt === undefined || id === undefined ? null : { createdAt, id };
    const { runs, next } = await this.runs.page(
      scope.organizationId,
      {
        ...filter,
        statuses: statuses ?? null,
        createdAfter: createdAfter(filter.createdAfter, statuses, now),
        openAfter: open ? oldestOpenRequests(now) : null,
      },
      after,
      limit,
    );
    return {
      items: runs.map(({ run, unanswered }) => withOpenRequests(run, unanswered, now)),
      nextCursor: next && this.cursors.issue(scope, [next.createdAt, next.id]),
    };
  }
}

/** A list of runs under way need not look for them among old runs. */
function createdAfter(asked: Date | null, statuses: RunQuery['statuses'], now: Date): Date | null {
  const after = asked && withinYears(asked);
  if (statuses?.some((status) => status !== 'running') !== false) return after;
  const oldest = new Date(now.getTime() - LONGEST_RUN_MS);
  return after !== null && after > oldest ? after : oldest;
}

/** No run is older, and none is younger. The database does not take all the dates that `Date` has. */
const FIRST_TIME = Date.UTC(1970, 0);
const LAST_TIME = Date.UTC(9999, 11, 31);

function withinYears(time: Date): Date {
  return new Date(Math.min(Math.max(time.getTime(), FIRST_TIME), LAST_TIME));
}
