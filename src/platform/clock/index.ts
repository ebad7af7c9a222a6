export { Clock, type Stopwatch, SystemClock } from './clock.js';
export { KeyedQueue } from './keyed-queue.js';
export { TimeSlice } from './time-slice.js';
export { Turns } from './turns.js';
export { untilAborted } from './until-aborted.js';
export { type TimeBound, withinTime } from './within-time.js';
export { Semaphore } from './semaphore.js';
