import type { Clock } from '../../src/platform/clock/index.js';
import { readSettings } from '../../src/platform/config/index.js';
import type { OpenDatabase } from '../../src/platform/database/index.js';
import { EventBus } from '../../src/platform/events/index.js';
import type { OperatorKernel } from '../../src/platform/command-line/index.js';

/** What commands other than `secrets rotate` work with. */
export function operatorKernel(open: OpenDatabase, clock: Clock, events = new EventBus()): OperatorKernel {
  const rotateSecrets = (): never => {
    throw new Error('These commands ask for no rotation of secrets');
  };
  return { settings: readSettings({}, { role: 'all', demo: false }), open, clock, events, rotateSecrets };
}
