export { Draining, type ShutdownParticipant } from './draining.js';
export { type GracefulShutdownOptions, shutDown, stopOnSignals } from './graceful-shutdown.js';
export { LifecycleModule } from './lifecycle.module.js';
