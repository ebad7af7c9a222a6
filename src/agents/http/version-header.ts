import { ApiAnswerHeader } from '../../platform/http/index.js';

/** Documents the header that names the version at which an agent, or what belongs to it, was answered. */
export const ApiVersionHeader = (): MethodDecorator =>
  ApiAnswerHeader({
    name: 'ETag',
    description: "The agent's version, for `If-Match`.",
    schema: { type: 'string', examples: ['"3"'] },
    onSuccessOnly: true,
  });
