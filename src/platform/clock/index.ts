export { Clock, type Stopwatch, SystemClock } from './clock.js';
export { TimeSlice } from './time-slice.js';
export { Turns } from './turns.js';
export { untilAborted } from './until-aborted.js';
