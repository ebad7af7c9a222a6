import { ApiAnswerHeader } from '../../platform/http/index.js';
import { THREAD_HEADER } from '../application/thread-lookup.js';

export const ApiThreadHeader = (): MethodDecorator =>
  ApiAnswerHeader({
    name: THREAD_HEADER,
    description: 'The thread, on refusals too where it exists.',
    schema: { type: 'string', format: 'uuid' },
  });
