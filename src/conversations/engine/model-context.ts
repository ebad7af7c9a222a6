import type { RunnableAgent } from '../../agents/index.js';
import { findModel } from '../../models/index.js';
import { CONTEXT_TOKENS, HISTORY_CHARACTERS } from './limits.js';

/** How many characters of earlier conversation the agent's model gets. */
export function contextCharacters({ provider: { type, model } }: RunnableAgent): number {
  return findModel(type, model)?.historyCharacters ?? HISTORY_CHARACTERS;
}

export function contextTokens({ provider: { type, model } }: RunnableAgent): number {
  return findModel(type, model)?.contextTokens ?? CONTEXT_TOKENS;
}
