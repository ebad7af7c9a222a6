import { ApiAnswerHeader, THREAD_ID_HEADER } from '../../platform/http/index.js';

export const ApiThreadHeader = (): MethodDecorator =>
  ApiAnswerHeader({
    name: THREAD_ID_HEADER,
    description: 'The thread, on refusals too where it exists.',
    schema: { type: 'string', format: 'uuid' },
  });
