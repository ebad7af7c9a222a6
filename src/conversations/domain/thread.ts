/** Whether the thread was opened over REST or for the browser widget. */
export const CHANNELS = ['api', 'widget'] as const;
export type Channel = (typeof CHANNELS)[number];

export interface Thread {
  readonly id: string;
  readonly organizationId: string;
  readonly agentId: string;
  readonly title: string | null;
  readonly channel: Channel;
  readonly metadata: Readonly<Record<string, string>>;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly lastMessageAt: Date | null;
}

const TITLE_LENGTH = 60;

/**
 * The title of a thread: the first line of the user's first message, cut at a word. Null when the message is blank.
 */
export function titleOf(question: string): string | null {
  const line = /\S[^\r\n]*/.exec(question.toWellFormed())?.[0].replace(/\s+/g, ' ').trimEnd();
  if (line === undefined) return null;
  const characters = [...line];
  if (characters.length <= TITLE_LENGTH) return line;
  const cut = characters.slice(0, TITLE_LENGTH).join('');
  const word = cut.lastIndexOf(' ');
  return `${word > TITLE_LENGTH / 2 ? cut.slice(0, word) : cut}…`;
}
