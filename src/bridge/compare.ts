/**
 * - `starting`: the worktree is made and prepared, and the agent starts or gets the prompt.
 * - `waiting`: a request of the agent is pending.
 * - `failed`: nothing was started, the agent ended, or its turn ended with an error.
 * - `interrupted`: the window or the session was closed.
 */
export const RUN_STATES = [
  ...(['starting', 'working', 'waiting'] as const),
  ...(['done', 'failed', 'stopped', 'interrupted'] as const),
] as const

export type RunState = (typeof RUN_STATES)[number]

/** Whether the agent works, or will. */
export function isBusy({ state }: { state: RunState }): boolean {
  return state === 'starting' || state === 'working' || state === 'waiting'
}

/** An agent of a comparison. */
export interface ComparedAgent {
  name: string
  icon?: string
  /** name of the worktree */
  worktree?: string
  state: RunState
  /** Why the agent failed. */
  reason?: string
  needsSignIn?: true
  /** the agent's last message or action, in one line */
  line?: string
  /** how long the turns took that are over, in milliseconds */
  worked: number
  /** when the running turn began, milliseconds since the epoch */
  since?: number
  /** as text with the currency */
  cost?: string
  tokens?: number
  /** The agent has a session that can be opened. */
  hasSession?: true
  /** The prompt wasn't sent, so the agent can be started again. */
  hasPrompt?: true
}

export interface ComparedFile {
  path: string
  kind: 'added' | 'deleted' | 'modified'
  /** Numbers of lines; absent for a binary file. */
  added?: number
  removed?: number
}

/** The changes of an agent. */
export interface ComparedFiles {
  /** the first changed files */
  files: ComparedFile[]
  /** of all files */
  count: number
  added: number
  removed: number
  /** The agent worked when the changes were looked for, so there may be more. */
  isEarly?: true
  /** The changes were applied to the workspace; `outdated`: the worktree has changed since. */
  applied?: 'all' | 'outdated'
  /** The worktree was removed or discarded. */
  isGone?: true
  /** Why the changes aren't known. */
  problem?: string
}

export interface Comparison {
  id: string
  /** the first line of the prompt */
  title: string
  /** base of the worktrees: a branch and a commit */
  from: string
  /** milliseconds since the epoch */
  at: number
  trusted: boolean
  /** More comparisons exist. */
  hasOthers: boolean
  agents: ComparedAgent[]
}

export interface CompareState {
  /** Absent if the comparison was deleted. */
  comparison?: Comparison
}
