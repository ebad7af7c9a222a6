import {
  ObjectListField,
  QueryBooleanField,
  QueryEnumListField,
  QueryIntegerField,
  QueryStringField,
  QueryUuidField,
  StringField,
  TimestampField,
} from '../../platform/http/index.js';
import { APPROVAL_HOURS } from '../domain/approval.js';
import { RUN_STATUSES, type RunStatus } from '../domain/run.js';
import { InterruptResponse, RunResponse } from './messages.dto.js';

const DEFAULT_PAGE = 20;
const MAX_PAGE = 100;

export class ListRunsOfThreadQuery {
  @QueryEnumListField(RUN_STATUSES, {
    optional: true,
    description: `Only runs with one of these statuses, separated by commas: ${RUN_STATUSES.join(', ')}.`,
  })
  readonly status?: readonly RunStatus[];
  @QueryBooleanField({
    optional: true,
    description:
      'With `true` only runs with calls that wait for an answer. `false` is the default and filters nothing.',
  })
  readonly open: boolean = false;
  @QueryStringField({ optional: true, description: 'The `nextCursor` of the page before.' })
  readonly cursor?: string;
  @QueryIntegerField({ optional: true, min: 1, max: MAX_PAGE, description: `${DEFAULT_PAGE} by default.` })
  readonly limit: number = DEFAULT_PAGE;
}

export class ListRunsQuery extends ListRunsOfThreadQuery {
  @QueryUuidField({ optional: true, description: 'Only runs of this agent.' })
  readonly assistant_id?: string;
  @TimestampField({ optional: true, description: 'Only runs that were created after this time.' })
  readonly createdAfter?: string;
}

export class ListedRunResponse extends RunResponse {
  @ObjectListField(() => InterruptResponse, {
    description:
      'The calls that wait for an answer, which the `resume` of the next run on the thread gives. Empty once they are ' +
      `answered, declined by a message, or ${APPROVAL_HOURS} hours old; the status remains \`requires_action\`.`,
  })
  readonly interrupts!: readonly InterruptResponse[];
}

export class RunListResponse {
  @ObjectListField(() => ListedRunResponse, {
    description: 'The newest first. With filters that few runs pass, a page may have fewer than `limit`, or none.',
  })
  readonly runs!: readonly ListedRunResponse[];
  @StringField({ nullable: true, description: 'Opaque; null at the end, and only there.' })
  readonly nextCursor!: string | null;
}
