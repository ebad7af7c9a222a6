import { McpFailure } from '../mcp/mcp-failure.js';

const MESSAGES = {
  none: 'The tool server wants a sign-in, and nobody has signed in to it yet.',
  gone: 'The sign-in to the tool server is no longer valid. Somebody has to sign in again.',
  refused: 'The tool server does not accept the access that its authorization server gives. Try again later, or sign in again.',
  scope: 'The tool server wants more permissions than the sign-in gave. Somebody has to sign in again to grant them.',
};

/** What only a person can change, by signing in. */
export function needsAuthorization(why: keyof typeof MESSAGES): McpFailure {
  return new McpFailure('needs_authorization', MESSAGES[why]);
}
