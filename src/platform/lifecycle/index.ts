export { endsWithin } from './ends-within.js';
export { ShutdownState, type ShutdownParticipant } from './shutdown-state.js';
export { shutDown, stopOnSignals } from './graceful-shutdown.js';
export { LifecycleModule } from './lifecycle.module.js';
