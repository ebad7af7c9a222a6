/** A handler has not done its part; the message is public. */
export class HandlerFailed extends Error {}
