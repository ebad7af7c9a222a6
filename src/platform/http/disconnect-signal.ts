import type { FastifyReply } from 'fastify';

/** Aborted when the client disconnects before the response is sent. */
export function disconnectSignal({ raw }: FastifyReply): AbortSignal {
  const disconnected = new AbortController();
  const onClose = (): void => {
    if (!raw.writableFinished) disconnected.abort();
  };
  raw.once('close', onClose);
  if (raw.destroyed) onClose();
  return disconnected.signal;
}
