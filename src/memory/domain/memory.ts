/** Whose memories they are: of one user, of one agent. Nothing is ever read or written past this. */
export interface MemoryOwner {
  readonly organizationId: string;
  readonly agentId: string;
  /** The key of the user, which `UserKeys` of conversations makes from the user's id. */
  readonly userKey: string;
}

/** Something an agent has noted about a user. */
export interface Memory {
  readonly id: string;
  /** As the model wrote it: data, whatever it says. */
  readonly text: string;
  readonly createdAt: Date;
  /** When it was last said: saved, saved again, or corrected. */
  readonly updatedAt: Date;
}

const CODE_LENGTH = 8;

/** What a model calls a memory: the end of its id, which no other one of the user shares but by rare chance. */
export function codeOf(id: string): string {
  return id.slice(-CODE_LENGTH);
}

/** A code as a model may write it. @returns null for what is none */
export function readCode(code: string): string | null {
  const plain = code.trim().toLowerCase();
  return /^[0-9a-f]{8}$/.test(plain) ? plain : null;
}
