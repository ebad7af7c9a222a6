export { type SignalFields, Signals } from './signals.js';
export { SignalsModule } from './signals.module.js';
