/**
 * How long Parley waits for what it doesn't control (agents, programs, the network, the disk, other windows), how often it polls, and
 * limits that users notice or several modules use. Times are in milliseconds. Times that only pace a module's own work, such as the
 * interval between two frames, are in that module.
 */

// ---- agents and their processes ---------------------------------------------------------------------------------

/** Time from closing an agent's input to the first signal. Most agents exit within 250 ms; two measured agents need 2 to 5 s. */
export const AGENT_EXIT_MS = 5000
/** Like {@link AGENT_EXIT_MS}, when the window closes: VS Code gives an extension 5 s in total, then the process guard takes over. */
export const WINDOW_CLOSE_MS = 3000
/** Time between SIGTERM and SIGKILL. */
export const KILL_AFTER_MS = 2000
/** How long a process may take to disappear after SIGKILL. */
export const PROCESS_VANISH_MS = 3000
export const PROCESS_POLL_MS = 40
/** How often the processes of an active agent are listed. */
export const FOLLOW_PROCESSES_MS = 2000
/** Minimum time that an agent on a server has to respond to an HTTP request. */
export const REMOTE_ANSWER_MS = 30_000
/** A connection to an agent on a server counts as lost if nothing arrives for this long, not even the response to a ping. */
export const REMOTE_ALIVE_MS = 30_000
/** How long a server may take to receive the message that its agent isn't needed anymore. */
export const REMOTE_CLOSE_MS = 1000

/** How long a new agent host may take to become reachable for windows, and how often windows try to reach it. */
export const HOST_START_MS = 20_000
export const HOST_START_POLL_MS = 50
/** How long to wait for the output of a host that exited during its start. */
export const HOST_LAST_WORDS_MS = 500
/** How long the other side of a host's connection may take to prove its identity. */
export const HOST_HANDSHAKE_MS = 5000
/** A host that doesn't respond within this time is used only if its process is known to be a host's. */
export const HOST_SILENT_MS = 300
/** How long a window keeps a connection to an agent host that it opened in advance. */
export const HOST_EARLY_CONNECTION_MS = 2000
/** How long an agent host that has to end waits for its agents to exit. */
export const END_HOST_MS = 15_000
/** How long an agent host without agents and windows stays, so that a reloaded window finds it. */
export const HOST_LINGER_MS = 10_000
/** How long an agent's output may be only in the host's memory without and with an attached window, which mostly stores it earlier. */
export const JOURNAL_DELAY_MS = 100
export const JOURNAL_WINDOW_DELAY_MS = 500
/** How long a host waits before it writes again to a disk that was full. */
export const JOURNAL_RETRY_MS = 5000
/** How long the last output of an exited agent is stored for a window. */
export const ENDED_AGENT_KEPT_MS = 7 * 24 * 3_600_000

/** How long an agent that waits for the user, or is silent during a turn, continues after its window was closed. */
export const WAITING_AGENT_KEPT_MS = 30 * 60_000
/**
 * How long the output of commands keeps an agent without a window running if the agent itself is silent, since a server may write forever.
 */
export const COMMANDS_KEEP_AGENT_MS = 4 * 3_600_000
/** How long an idle agent continues after its window was closed, unless the agent ends with the window: see `HostedAgents.dispose`. */
export const IDLE_AGENT_KEPT_MS = 120_000

/** How often a sign-in's terminal is checked for a failed command. */
export const SIGN_IN_POLL_MS = 250

/** How long a login shell may take to print the user's environment. */
export const SHELL_ENVIRONMENT_MS = 10_000
/** Time for a login shell to exit by itself, and for its last output to arrive. */
export const SHELL_EXIT_MS = 1000
/** How often the files on which a project's environment depends are checked. */
export const WATCH_PROJECT_MS = 2000
/** Time limit for listing all processes of the machine. */
export const LIST_PROCESSES_MS = 20_000
/** Time limit for unpacking an agent. */
export const UNPACK_MS = 600_000
/** A download fails if it receives nothing for this long. */
export const DOWNLOAD_IDLE_MS = 60_000

// ---- other windows ------------------------------------------------------------------------------------------------

/** How often a window renews its row in the database to confirm that it's open. */
export const OWNER_HEARTBEAT_MS = 5000
/**
 * A window that hasn't renewed its leases for this time counts as crashed or hanging, if this window could renew its own leases meanwhile.
 */
export const OWNER_STALE_MS = 20_000
/** How often a window tries to get a file lock that another window has. */
export const FILE_LOCK_POLL_MS = 100
/** How often a window looks for windows that have closed. */
export const WINDOW_HEARTBEAT_MS = 10_000
/**
 * A window counts as closed after this time without a confirmation, even if its process is running, as when a browser with VS Code was
 * closed.
 */
export const WINDOW_STALE_MS = 60_000
/** How long the previous window may take to release its sessions after a reload. */
export const RELOAD_CLOSE_MS = 3000
/** How often a reloaded window checks whether the previous window has released its sessions. */
export const RELEASE_POLL_MS = 100
/** How long the agent host may take to free a port that a window is about to serve. */
export const PORT_FREED_MS = 10_000
/** How often to try a port that another program is about to free. */
export const HELD_PORT_POLL_MS = 100
/** How often to retry a port that another program uses. */
export const HELD_PORT_SLOW_POLL_MS = 2000
/**
 * How long an agent's connection to the editor's tools waits for a window, and how long the window waits for the port. Claude retries a
 * closed connection only five times; a call in a turn that continues without a window shouldn't wait forever.
 */
export const HELD_CONNECTION_MS = 30_000
/** Maximum number of connections that wait at one port, and the maximum size in bytes of the data that is read from each. */
export const MAX_HELD_CONNECTIONS = 64
export const MAX_HELD_BYTES = 256 * 1024
/** After a start, how often to check whether the previous window has closed and left drafts. */
export const DRAFTS_POLL_MS = 2000
/** How long another window may take to release a requested session before the session is taken from it. */
export const TAKE_OVER_MS = 10_000
/** How often a window tries to get a session that it requested. */
export const ACQUIRE_SESSION_POLL_MS = 200
/** How often a window with open sessions checks for requests of other windows. */
export const SESSION_REQUESTS_POLL_MS = 1000
/** How often a window checks for requests and states of other windows. */
export const WINDOWS_POLL_MS = 500
/** How often the conversation of another window is read again. */
export const FOLLOW_WINDOW_MS = 1000
/** Delay before a small file that couldn't be written, as on a full disk, is written again. */
export const REWRITE_AFTER_MS = 5000
/** How long a write to a database waits for another window's write. Short, because it blocks the extension host. */
export const DATABASE_BUSY_MS = 250
/** How often changes of agents that couldn't be stored, such as on a full disk, are stored again. */
export const RETRY_STORE_MS = 5000
/** How long to wait for another window that reads a database's log. */
export const LOG_IN_USE_MS = 1000

// ---- slow work that a user waits for --------------------------------------------------------------------------

/** Tests set this environment variable to shorten the times below. */
const patience = Number(process.env.PARLEY_PATIENCE_MS) || undefined
/** The pauses before each attempt to connect again to an agent on a server. */
export const RECONNECT_MS = [1000, 2000, 4000, 8000, 15_000].map(ms => Math.min(ms, patience ?? ms))
/** After this time, Parley tells the user that the agent is slow and offers to cancel. */
export const SLOW_ANSWER_MS = patience ?? 15_000
/**
 * How long a new session's first prompt waits for an option to be set. Longer than {@link SLOW_ANSWER_MS}, so that the user can stop the
 * wait.
 */
export const DEFAULT_OPTION_MS = patience ?? 60_000
/** How long direnv and mise may take to print a project's environment. Installing or building tools may take far longer. */
export const PROJECT_ENVIRONMENT_MS = patience ?? 30_000
/** After this time, the progress of a start names the tool that Parley waits for. */
export const SLOW_TOOL_MS = 1000
/** If direnv and mise exceeded their time limit, an agent that starts within this time doesn't wait for them again. */
export const RETRY_PROJECT_MS = 60_000
/** How long the search for agents waits for the project's environment. If the environment is known only later, the search is repeated. */
export const SEARCH_PROJECT_MS = patience ?? 3000
/** How long to wait until VS Code shows the user settings file that Parley has opened. */
export const SETTINGS_SHOWN_MS = 3000
/** Maximum length of a file with settings in which a permission rule is searched for. Characters. */
export const MAX_RULES_FILE = 4_000_000
/** How long a start waits for the Python extension, which may have to start first. A later answer offers to restart the agent. */
export const SELECTED_PYTHON_MS = patience ?? 10_000
/** How long an agent may take to list its sessions before the list offers to retry. */
export const LIST_SESSIONS_MS = patience ?? 20_000
/** How long the user can undo the deletion of a session. */
export const UNDO_DELETION_MS = patience ?? 10_000
/** How long the status bar offers to undo a decision about changes. */
export const OFFER_UNDO_MS = patience ?? 10_000
/** How long agents continue during a reload of their window. */
export const RELOADING_AGENT_KEPT_MS = patience ?? 60_000
/** Time after which all sessions of an agent are listed again; until then, only the newest are. */
export const RELIST_SESSIONS_MS = 600_000
/** How long a search waits for a new list of files or commits before it uses the old list. */
export const FILE_LIST_MS = 400
/** How long a search waits for the folder of a typed path, which may be on a network. */
export const TYPED_PATH_MS = 1000
/** How long a prompt that may use a prompt file waits until all prompt files are found. */
export const CALLED_FILE_MS = 10_000
/** How long a new session waits for a summary of the turns that it doesn't get in full. */
export const SUMMARY_MS = 120_000
/** How long a search for symbols waits for a language. Enter waits for it, too, if nothing else was found. */
export const SYMBOLS_MS = 3000
/** After this time, an agent that hasn't ended a canceled turn is reported as not responding to Stop. */
export const CANCEL_GRACE_MS = 10_000
/** How long an agent may take to stop the turn before another window takes over the session. */
export const STOP_TURN_MS = 3000
/** Time limit for a Git command. */
export const GIT_MS = 20_000
/** Limit for a Git command that the user waits for, such as checking out all files of a large repository. */
export const USER_GIT_MS = 600_000
/** How long a Git command waits for another program that has the lock, and the pause between two attempts. */
export const GIT_LOCK_MS = 5000
export const GIT_LOCK_PAUSE_MS = 100
/** Limit for a Git command that looks for changes; a repository that exceeds it several times in a row is skipped for a while. */
export const CHANGES_GIT_MS = 5000
/** Limit for a Git command that reads where the hooks of a repository are. */
export const HOOKS_GIT_MS = 5000
/** Limit for scanning a folder without a repository; a folder that exceeds it several times in a row is skipped for a while. */
export const FOLDER_SCAN_MS = 10_000
/** How long an editor tool that only reads waits for language extensions. */
export const READING_TOOL_MS = 120_000
/** How long an editor tool waits for one answer of a debugger. */
export const DEBUG_REQUEST_MS = 60_000
/** How long to wait until an editor has loaded a file from disk before the editor reveals a change in the file. */
export const EDITOR_RELOAD_MS = 1000
/** If the editor loads the file later, but within this time, it reveals the change again. */
export const EDITOR_LATE_RELOAD_MS = 60_000
/** How long to wait for a review to show the next file after scrolling. */
export const REVIEW_SCROLL_MS = 1000
/** How long a key press in a review waits for the previous one, which may be asking the user. */
export const REVIEW_STEP_MS = EDITOR_RELOAD_MS + 2 * REVIEW_SCROLL_MS
/** Time limit for a registry's response. */
export const REGISTRY_MS = 20_000
/** Some agents respond to a load before they replay the conversation. The replay counts as complete after this time without an update. */
export const LATE_REPLAY_MS = 250
/** After the response to a load, updates belong to the replay until no update has arrived for this long. */
export const LATE_REPLAY_END_MS = 2000
/** How long the response to a prompt may take after the session became idle. */
export const LATE_RESPONSE_MS = 1000
/** How long the agent may take after the end of a turn to report whether it added a prompt to the turn. */
export const LATE_STEERING_MS = 5000
/** How long permission rules may take to check the files of a request; after this time, the request is shown. */
export const RULE_CHECK_MS = 2000

// ---- limits for messages from agents -----------------------------------------------------------------------------

/** Maximum levels of nesting in a message; deeper values are dropped. Real messages have fewer than 20. */
export const MAX_DEPTH = 100
/** Maximum length of a conversation that is the context of another conversation, about 50,000 tokens. Characters. */
export const MAX_CONVERSATION_CONTEXT = 200_000
/**
 * Maximum number of members of objects and elements of arrays in a message; further ones are dropped. Real messages have fewer than 1000.
 */
export const MAX_MEMBERS = 5000
/** Like {@link MAX_MEMBERS}, for responses: a list of 10,000 sessions has 40,000. */
export const MAX_ANSWER_MEMBERS = 50_000
/** Maximum size in bytes of a file in which the place of a reported change is searched for, or that an editor tool reads. */
export const MAX_FRAGMENT_FILE_BYTES = 4 * 1024 * 1024
/** Maximum number of an agent's requests in progress; further ones are refused. */
export const MAX_OPEN_REQUESTS = 1000
/** Maximum size in bytes of responses that an agent hasn't read; beyond that, nothing more is read from the agent. */
export const MAX_UNREAD_BYTES = 32 * 1024 * 1024
/** Maximum size in bytes of requests in progress and unread responses together; further requests are answered with an error. */
export const MAX_OPEN_BYTES = 4 * MAX_UNREAD_BYTES
/** Maximum size in bytes of updates that wait for the response with their session's id. */
export const MAX_EARLY_BYTES = 64 * 1024 * 1024
/** Maximum length of an icon in characters. The registry's icons are under 5 kB; a longer text isn't a 16 px icon. */
export const MAX_ICON = 65_536
/** If an agent with {@link MAX_UNREAD_BYTES} of unread responses reads nothing for this long, its connection is closed. */
export const UNREAD_ANSWERS_MS = 10_000
/** Time limit for matching a regular expression of an agent's form against a text. */
export const PATTERN_MS = 100

// ---- comparisons --------------------------------------------------------------------------------------------------

export const MIN_COMPARED_AGENTS = 2
export const MAX_COMPARED_AGENTS = 5
/** Maximum number of remembered comparisons. Older ones are forgotten, but their worktrees and sessions stay. */
export const MAX_COMPARISONS = 20

// ---- MCP servers --------------------------------------------------------------------------------------------------

/** Maximum number of MCP servers in one file or one scope of the settings; further ones are ignored. Measured files have fewer than 20. */
export const MAX_MCP_SERVERS = 100
/** Maximum size in bytes of a file that defines MCP servers or their environment. */
export const MAX_MCP_FILE_BYTES = 1024 * 1024
/**
 * Maximum number of JSON tokens, spaces and line ends in an MCP file, or in the part of a workspace file that defines servers. Real files
 * have fewer than 2000.
 */
export const MAX_MCP_TOKENS = 10_000
/** Maximum number of inputs in one file or one scope of the settings; further inputs are ignored. */
export const MAX_MCP_INPUTS = 100
/** How long an MCP server may take to connect and to list its tools: npx may have to download the server first. */
export const CHECK_MCP_SERVER_MS = 60_000
/** How long a checked MCP server may take to exit once its input ended, and how long its last output may take to arrive. */
export const MCP_SERVER_EXIT_MS = 2000
/** The times before each attempt to reach an MCP server that doesn't run at the moment. */
export const MCP_RECONNECT_MS: readonly number[] = [250, 500, 1000, 2000, 4000, 8000]
/** Number of attempts to reach a server that has never responded. */
export const MCP_FIRST_ATTEMPTS = 3
/** Maximum size in bytes of all data that an MCP server may send during a check. */
export const MAX_CHECK_BYTES = 32 * 1024 * 1024
/** Maximum number of an MCP server's tools that a check reads. Real servers have up to 200. */
export const MAX_CHECKED_TOOLS = 2000
/** Several models and VS Code accept at most this number of tools. */
export const MANY_TOOLS = 128
/** How long the user may take to sign in to an MCP server in the browser. */
export const MCP_SIGN_IN_MS = 600_000
/** A token that expires within this time is renewed before it's used. */
export const TOKEN_SLACK_MS = 30_000
/** How long a server may take to renew a sign-in. All requests with the sign-in's token wait for the renewal. */
export const RENEW_SIGN_IN_MS = 20_000
/** How long another window that renewed a sign-in at the same time may take to store the result, and how often to check. */
export const OTHER_RENEWAL_MS = 1000
export const OTHER_RENEWAL_POLL_MS = 100

// ---- imported conversations ---------------------------------------------------------------------------------------

/**
 * Maximum number of entries of a conversation in an imported file; further ones are skipped. Long real conversations have a few thousand.
 */
export const MAX_IMPORTED_ENTRIES = 20_000
/** Maximum number of terminals of an imported conversation. */
export const MAX_IMPORTED_TERMINALS = 5000

// ---- lines that agents read and edit ------------------------------------------------------------------------------

/** Maximum length of a text that is searched for in editors. UTF-16 units. */
export const MAX_HIGHLIGHT_TEXT = 1_000_000
/** Number of tool calls of a turn whose lines are remembered. */
export const MAX_HIGHLIGHTED_CALLS = 100
