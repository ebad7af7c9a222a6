/** All texts of the widget. Braces mark placeholders. */
export const ENGLISH = {
  // The window
  heading: 'Chat',
  open: 'Open chat',
  close: 'Close chat',
  menu: 'More options',
  back: 'Back',
  cancel: 'Cancel',
  newConversation: 'New conversation',
  newConversationQuestion: 'Start a new conversation?',
  newConversationDetail: 'The messages of this one will no longer be shown here.',
  newConversationStart: 'Start new',
  conversations: 'Previous conversations',
  noConversations: 'There are no previous conversations.',
  untitledConversation: 'Conversation',
  currentConversation: 'This conversation',
  transcript: 'Download transcript',
  soundOn: 'Turn sound on',
  soundOff: 'Turn sound off',
  unread: 'Unread messages: {count}',
  teaserClose: 'Close this message',
  // The conversation
  greeting: 'Hello! How can I help?',
  conversation: 'Conversation',
  you: 'You',
  agent: 'Assistant',
  older: 'Older messages are not shown.',
  today: 'Today',
  yesterday: 'Yesterday',
  typing: 'The assistant is writing',
  latest: 'Jump to the latest message',
  newMessages: 'New messages',
  starters: 'Suggested questions',
  suggestions: 'Suggested replies',
  copy: 'Copy',
  copied: 'Copied',
  copyMessage: 'Copy message',
  thumbsUp: 'Good reply',
  thumbsDown: 'Bad reply',
  feedback: 'What could be better?',
  feedbackPlaceholder: 'Your comment (optional)',
  feedbackSend: 'Send',
  feedbackThanks: 'Thank you for your feedback.',
  // The composer
  placeholder: 'Write a message',
  message: 'Message',
  send: 'Send',
  stop: 'Stop',
  stopping: 'Stopping…',
  attach: 'Attach files',
  attachLimits: 'Attach files: at most {count}, of {size} each',
  dropFiles: 'Drop files here',
  removeFile: 'Remove {name}',
  uploading: 'Uploading {name}: {percent} %',
  uploaded: '{name} is attached.',
  fileTooLarge: '{name} is larger than {size}.',
  fileEmpty: '{name} is empty.',
  fileType: '{name}: files of this type cannot be attached.',
  tooManyFiles: 'At most {count} files can be attached.',
  uploadFailed: '{name} could not be uploaded.',
  // Progress
  connecting: 'Connecting…',
  reconnecting: 'The connection was lost. Trying again…',
  waiting: 'Many messages at the moment. Going on in {seconds} s.',
  tryAgain: 'Try again',
  unsent: 'Not sent.',
  incomplete: 'The reply was cut off.',
  replyFailed: 'There was no reply.',
  stopped: 'You stopped the reply.',
  // Tools and approvals
  toolRunning: 'Working: {tool}',
  toolDone: 'Used {tool}',
  toolFailed: '{tool} did not succeed',
  toolAwaiting: 'Waiting for approval: {tool}',
  toolApproved: 'You approved: {tool}',
  toolDenied: 'Declined: {tool}',
  toolInput: 'Input',
  toolOutput: 'Result',
  approvalNeeded: 'Your approval is needed: {tool}',
  approvalExplained: 'The assistant would like to do this with the following details:',
  approvalWithoutDetails: 'The assistant would like to do this.',
  approve: 'Approve',
  decline: 'Decline',
  yes: 'Yes',
  no: 'No',
  empty: 'Empty',
  entry: 'Entry {number}',
  showAll: 'Show all',
  chosen: 'Your choice',
  // Content of replies
  showImage: 'Show image from {host}',
  enlarge: 'Enlarge image',
  closeImage: 'Close image',
  code: 'Code',
  table: 'Table',
  footnotes: 'Footnotes',
  backToText: 'Back to the text',
  taskDone: 'Done',
  taskOpen: 'Not done',
  // Problems, by what the visitor can do
  failed: 'Something went wrong. Please try again.',
  failedNetwork: 'The service cannot be reached. Please try again.',
  failedEnded: 'This conversation has ended. Start a new one to go on.',
  failedTooLong: 'This conversation has become too long. Start a new one to go on.',
  failedUnavailable: 'The chat is not available at the moment. Please try again later.',
  failedBusy: 'A reply is still being written. Please send your message again.',
  failedOverloaded: 'Many people are writing at the moment. Please try again in a moment.',
  failedTime: 'The reply took too long. Please try again.',
  failedMessage: 'This message cannot be sent.',
  failedFile: 'A file of this message cannot be used.',
  failedApproval: 'This request can no longer be answered.',
  failedFeedback: 'Your feedback could not be sent.',
  failedConversations: 'The conversations could not be loaded.',
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

/** The codes of failures by the text that the visitor reads; `failed` is the text of the others. */
const FAILURES: Readonly<Partial<Record<keyof Strings, readonly string[]>>> = {
  failedNetwork: ['network', 'no_reply'],
  failedUnavailable: [
    'credentials',
    'unavailable',
    'provider_auth',
    'unprocessable_entity',
    'unauthorized',
    'forbidden',
    'forbidden_for_session_pass',
    'forbidden_by_key_role',
    'forbidden_by_agent_allowlist',
    'api_key_missing',
    'api_key_invalid',
    'agent_not_found',
  ],
  failedBusy: ['thread_busy'],
  failedEnded: [
    'session_turn_cap_exhausted',
    'session_refresh_cap_exhausted',
    'pass_expired',
    'pass_invalid',
    'forbidden_agent_not_in_pass',
    'not_found',
    'gone',
    'thread_not_found',
    'resume_token_expired',
    'resume_token_invalid',
  ],
  failedTooLong: ['context_too_long'],
  failedOverloaded: [
    'provider_rate_limited',
    'provider_overloaded',
    'service_unavailable',
    'server_shutdown',
    'too_many_requests',
  ],
  failedTime: ['run_timeout', 'run_limit_reached', 'gateway_timeout'],
  failedMessage: ['FST_ERR_VALIDATION', 'FST_ERR_CTP_BODY_TOO_LARGE', 'payload_too_large'],
  failedFile: ['attachment_failed', 'file_too_large', 'file_type'],
  failedApproval: ['approval_closed'],
  failedFeedback: ['reaction'],
  failedConversations: ['conversations'],
};

const TEXT_OF_CODE: ReadonlyMap<string, keyof Strings> = new Map(
  Object.entries(FAILURES).flatMap(([text, codes]) => codes.map((code) => [code, text as keyof Strings])),
);

/** What the visitor reads of a failure. The service's own message is for developers: it goes to the page's `chatError` event. */
export function failureText(strings: Strings, { code }: { readonly code: string }): string {
  return strings[TEXT_OF_CODE.get(code) ?? 'failed'];
}
