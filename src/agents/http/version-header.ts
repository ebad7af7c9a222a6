import { ApiAnswerHeader } from '../../platform/http/index.js';

/** Documents the response header with the agent's version. */
export const ApiVersionHeader = (): MethodDecorator =>
  ApiAnswerHeader({
    name: 'ETag',
    description: "The agent's version, for `If-Match`.",
    schema: { type: 'string', examples: ['"3"'] },
    onSuccessOnly: true,
  });
