import type { FastifyReply } from 'fastify';

/** Aborted when the caller leaves before the answer is sent. */
export function whenGone({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  const onClose = (): void => {
    if (!raw.writableFinished) gone.abort();
  };
  raw.once('close', onClose);
  if (raw.destroyed) onClose();
  return gone.signal;
}
