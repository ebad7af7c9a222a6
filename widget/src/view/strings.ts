/** All texts of the widget. Braces mark placeholders. */
export const ENGLISH = {
  heading: 'Chat',
  open: 'Open chat',
  close: 'Close chat',
  newConversation: 'New conversation',
  greeting: 'Hello! How can I help?',
  placeholder: 'Write a message',
  message: 'Message',
  send: 'Send',
  you: 'You',
  agent: 'Assistant',
  conversation: 'Conversation',
  older: 'Older messages are not shown.',
  typing: 'The assistant is writing',
  connecting: 'Connecting…',
  reconnecting: 'The connection was lost. Trying again…',
  waiting: 'Many messages at the moment. Going on in {seconds} s.',
  tryAgain: 'Try again',
  unsent: 'Not sent.',
  incomplete: 'The reply was cut off.',
  toolRunning: 'Working: {tool}',
  toolDone: 'Used {tool}',
  toolFailed: '{tool} did not succeed',
  toolAwaiting: 'Waiting for approval: {tool}',
  toolDenied: 'Declined: {tool}',
  toolInput: 'Input',
  toolOutput: 'Result',
  approvalNeeded: 'Your approval is needed: {tool}',
  approve: 'Approve',
  decline: 'Decline',
  chosen: 'Your choice',
  thumbsUp: 'Good reply',
  thumbsDown: 'Bad reply',
  attach: 'Attach files',
  removeFile: 'Remove {name}',
  uploading: 'Uploading {name}…',
  fileTooLarge: '{name} is larger than 50 MB.',
  tooManyFiles: 'At most 10 files can be attached.',
  uploadFailed: '{name} could not be uploaded.',
  suggestions: 'Suggestions',
  showImage: 'Show image from {host}',
  copy: 'Copy',
  copied: 'Copied',
  code: 'Code',
  table: 'Table',
  latest: 'Jump to the latest message',
  failed: 'Something went wrong. Please try again.',
  failedNetwork: 'The service cannot be reached. Please try again.',
  failedEnded: 'This conversation has ended. Start a new one to go on.',
  failedCredentials: 'The chat is not available at the moment.',
  failedBusy: 'A reply is still being written. Please send your message again.',
} as const;

export type Strings = Readonly<Record<keyof typeof ENGLISH, string>>;

export function fill(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
}

/** The name of a tool for people: in words, without the name of its server. */
export function toolLabel(name: string): string {
  return (
    name
      .replace(/^mcp__.+?__/, '')
      .replaceAll(/[-_]+/g, ' ')
      .trim() || name
  );
}

/** The message of a failure for the visitor. The service's message is for developers. */
const FAILURES: Readonly<Record<string, keyof Strings>> = {
  network: 'failedNetwork',
  credentials: 'failedCredentials',
  thread_busy: 'failedBusy',
  session_turn_cap_exhausted: 'failedEnded',
  session_refresh_cap_exhausted: 'failedEnded',
  pass_expired: 'failedEnded',
  pass_invalid: 'failedEnded',
  not_found: 'failedEnded',
  thread_not_found: 'failedEnded',
  resume_token_expired: 'failedEnded',
  resume_token_invalid: 'failedEnded',
  internal: 'failed',
};

export function failureText(
  strings: Strings,
  { code, message }: { readonly code: string; readonly message: string },
): string {
  const known = FAILURES[code];
  return known ? strings[known] : message || strings.failed;
}
