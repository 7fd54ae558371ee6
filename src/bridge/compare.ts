/**
 * The states of an agent of a comparison. Some of them:
 * - `starting`: the worktree is being created or prepared, or the agent is starting or getting the prompt.
 * - `waiting`: a request of the agent is pending.
 * - `failed`: nothing was started, the agent ended, or its turn ended with an error.
 * - `interrupted`: the window or the session was closed.
 */
export const RUN_STATES = [
  ...(['starting', 'working', 'waiting'] as const),
  ...(['done', 'failed', 'stopped', 'interrupted'] as const),
] as const

export type RunState = (typeof RUN_STATES)[number]

/** Whether the agent works, or is about to. */
export function isBusy({ state }: { state: RunState }): boolean {
  return state === 'starting' || state === 'working' || state === 'waiting'
}

/** An agent of a comparison. */
export interface ComparedAgent {
  name: string
  icon?: string
  /** the name of the agent's worktree */
  worktree?: string
  state: RunState
  /** Why the agent failed. */
  reason?: string
  needsSignIn?: true
  /** the agent's last message or action, in one line */
  line?: string
  /** the total duration of the finished turns, in milliseconds */
  worked: number
  /** when the running turn began, in milliseconds since the epoch */
  since?: number
  /** the cost as text with the currency */
  cost?: string
  tokens?: number
  /** The agent has a session that can be opened. */
  hasSession?: true
  /** The prompt wasn't sent yet, so the agent can be started again. */
  hasPrompt?: true
}

export interface ComparedFile {
  path: string
  kind: 'added' | 'deleted' | 'modified'
  /** the number of added lines; absent for a binary file, like `removed` */
  added?: number
  removed?: number
}

/** The changes that an agent made. */
export interface ComparedFiles {
  /** the first changed files */
  files: ComparedFile[]
  /** the number of all changed files; the numbers of lines are also those of all files */
  count: number
  added: number
  removed: number
  /** The agent was working when the changes were read, so there may be more by now. */
  isEarly?: true
  /** The changes were applied to the workspace; `outdated` means that the worktree has changed since. */
  applied?: 'all' | 'outdated'
  /** The worktree was removed or discarded. */
  isGone?: true
  /** the reason why the changes aren't known */
  problem?: string
}

export interface Comparison {
  id: string
  /** the first line of the prompt */
  title: string
  /** the base of the worktrees, as text: a branch and a commit */
  from: string
  /** milliseconds since the epoch */
  at: number
  trusted: boolean
  /** More comparisons exist. */
  hasOthers: boolean
  agents: ComparedAgent[]
}

export interface CompareState {
  /** absent if the comparison was deleted */
  comparison?: Comparison
}
