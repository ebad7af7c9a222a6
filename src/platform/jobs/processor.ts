// A file of its own: the bundle of the command line leaves it out, and the queue with it.
export { Processor, WorkerHost } from '@nestjs/bullmq';
/** Thrown by a job that no repetition would help: it is dead at once. */
export { UnrecoverableError } from 'bullmq';
