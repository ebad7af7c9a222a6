import { Injectable } from '@nestjs/common';
import { newId } from '../../platform/ids/index.js';

/**
 * This process as the owner of runs. The id is new at each start, so that runs of a former process do not look alive.
 */
@Injectable()
export class RunOwner {
  readonly id = newId();
  /** Runs that have ended in this process and whose end is not stored yet. */
  readonly unsettled = new Set<string>();
  /** Runs whose start got no answer from the database, and that may be stored all the same: to be ended. */
  readonly lostStarts = new Set<string>();
  /** As `lostStarts`, of requests that can be repeated under a key: to be executed. */
  readonly lateStarts = new Set<string>();
}
