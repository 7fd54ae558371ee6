/** The agent violates the specification. The message says what the agent does, as a sentence. */
export class CheckFailed extends Error {}

/** The agent doesn't claim to support what the check is about. */
export class NotOffered extends Error {}

/** The check couldn't be made. The message says why, as a sentence. */
export class NotChecked extends Error {}
