/** Limits and waiting times that more than one module knows, or that a user notices. Times are in milliseconds. */

// ---- agents and their processes ---------------------------------------------------------------------------------

/** Between the end of an agent's input and the first signal. Most exit within 250 ms, two measured ones need 2 to 5 s. */
export const AGENT_EXIT_MS = 5000
/** The same when the window closes: VS Code gives an extension 5 s in all, and the process guard takes over. */
export const WINDOW_CLOSE_MS = 3000
/** Between SIGTERM and SIGKILL. */
export const KILL_AFTER_MS = 2000
/** A process may take this long to vanish after SIGKILL. */
export const PROCESS_VANISH_MS = 3000
export const PROCESS_POLL_MS = 40

/** How often a sign-in's terminal is asked whether its command failed. */
export const SIGN_IN_POLL_MS = 250

/** A window that owns a session or a file lock renews it this often. */
export const OWNER_HEARTBEAT_MS = 5000
/** An owner that hasn't renewed for this long is gone: it crashed, or its machine sleeps. */
export const OWNER_STALE_MS = 20_000

// ---- slow work that a user waits for --------------------------------------------------------------------------

/** After this time the user is told that the agent is slow, and may cancel. */
export const SLOW_ANSWER_MS = 15_000
/** An agent may take this long to list its sessions; then the list says so and offers to retry. */
export const LIST_SESSIONS_MS = 20_000
/** While the files of a folder are listed again, a search waits this long; then it uses the old list. */
export const FILE_LIST_MS = 400
/** A search for symbols doesn't wait longer for a language. */
export const SYMBOLS_MS = 3000
/** An agent that hasn't ended a canceled turn after this time is reported as not responding to Stop. */
export const CANCEL_GRACE_MS = 10_000
/** Before another window takes over a session, its agent may take this long to stop the turn. */
export const STOP_TURN_MS = 3000
/** Another window may take this long to release a session that was asked for; then the session is taken from it. */
export const TAKE_OVER_MS = 10_000
/** After a reload, the window before it may take this long to release its sessions. */
export const RELOAD_CLOSE_MS = 3000
/** A Git command may take this long. */
export const GIT_MS = 20_000
/** A registry may take this long to answer. */
export const REGISTRY_MS = 20_000
/** Some agents answer a load before they replay: the replay is taken to be over after this time without an update. */
export const LATE_REPLAY_MS = 250
/** A permission request is shown when its files could not be looked at within this time. */
export const RULE_CHECK_MS = 2000

// ---- what an agent may send -------------------------------------------------------------------------------------

/** Levels of nesting in a message; deeper values are cut. Real messages have fewer than 20. */
export const MAX_DEPTH = 100
/** Bytes of a file in which the place of a fragment is looked for. */
export const MAX_FRAGMENT_FILE_BYTES = 4 * 1024 * 1024
/** Requests of an agent that are being answered at the same time; further ones are refused. */
export const MAX_OPEN_REQUESTS = 1000
/** Bytes of answers in memory that an agent hasn't read; above that, nothing more is read from it. */
export const MAX_UNREAD_BYTES = 32 * 1024 * 1024
/** If the agent then reads nothing for this long, its connection is closed. */
export const UNREAD_ANSWERS_MS = 10_000
/** A regular expression of an agent's form may take this long for one text. */
export const PATTERN_MS = 100
