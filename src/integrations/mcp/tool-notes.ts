/** Stands in a tool's output for what is left out of it. */
export function noteOf(what: string): string {
  return `[${what} is left out.]`;
}

/** Why a tool's arguments are not listed: its server says nothing of them, or nothing that a model can be sent. */
export const UNDESCRIBED = 'the server does not describe them in a form that models take';
