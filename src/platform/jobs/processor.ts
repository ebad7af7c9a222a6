// A separate file, so that the bundle of the command line does not contain the queue.
export { Processor, WorkerHost } from '@nestjs/bullmq';
/** Thrown by a job that would fail again: it is dead without further attempts. */
export { UnrecoverableError } from 'bullmq';
