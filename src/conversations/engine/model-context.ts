import type { RunnableAgent } from '../../agents/index.js';
import { findModel } from '../../models/index.js';
import { HISTORY_CHARACTERS } from './limits.js';

/** How many characters the agent's model takes. */
export function contextCharacters({ provider: { type, model } }: RunnableAgent): number {
  return findModel(type, model)?.historyCharacters ?? HISTORY_CHARACTERS;
}
