import { McpFailure } from '../mcp/mcp-failure.js';

const MESSAGES = {
  none: 'The tool server requires a sign-in, and no person has signed in to it yet.',
  gone: 'The sign-in to the tool server is no longer valid. A person has to sign in again.',
  refused:
    'The tool server does not accept the access that its authorization server gives. Try again later, or sign in again.',
  scope:
    'The tool server requires more permissions than the sign-in gave. A person has to sign in again to grant them.',
};

/** For failures that end when a person signs in. */
export function needsAuthorization(why: keyof typeof MESSAGES): McpFailure {
  return new McpFailure('needs_authorization', MESSAGES[why]);
}
