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
}
