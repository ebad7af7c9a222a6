export { Clock, type Stopwatch, SystemClock } from './clock.js';
