import { Injectable } from '@nestjs/common';
import { newId } from '../../platform/ids/index.js';

/** This process as the owner of runs; a new one at every start, so a restarted process never takes itself for alive. */
@Injectable()
export class RunOwner {
  readonly id = newId();
  /** Runs that have ended here and whose end is still to be stored. */
  readonly unsettled = new Set<string>();
}
