/** The agent doesn't do what the specification demands. The message says what it does, in a sentence. */
export class CheckFailed extends Error {}

/** The agent doesn't claim to support this. */
export class NotOffered extends Error {}

/** The check couldn't be made. The message says why, in a sentence. */
export class NotChecked extends Error {}
