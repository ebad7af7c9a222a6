/** One user of one agent. Every read and write of memories is limited to one owner. */
export interface MemoryOwner {
  readonly organizationId: string;
  readonly agentId: string;
  /** Made by `UserKeys` of the conversations context from the user's id. */
  readonly userKey: string;
}

/** Something an agent noted about a user. */
export interface Memory {
  readonly id: string;
  /** As the model wrote it: data, never instructions. */
  readonly text: string;
  readonly createdAt: Date;
  /** When it was last saved, saved again or corrected. */
  readonly updatedAt: Date;
}

const CODE_LENGTH = 8;

/** The name by which a model refers to a memory: the end of its id. Two memories of a user rarely share one. */
export function codeOf(id: string): string {
  return id.slice(-CODE_LENGTH);
}

/** Reads a code as a model writes it. @returns null if it is not a code */
export function readCode(code: string): string | null {
  const plain = code.trim().toLowerCase();
  return /^[0-9a-f]{8}$/.test(plain) ? plain : null;
}
