/**
 * - `loading`: the agent replays the conversation, which is shown as it arrives; prompts wait.
 * - `ready`: prompts can be sent.
 * - `ended`: the agent ended; the conversation stays readable.
 * - `closed`: Parley closed the session; the conversation stays readable.
 */
export type SessionPhase = 'loading' | 'ready' | 'ended' | 'closed'

/**
 * What a conversation view shows besides its entries:
 * - `empty`: no session, and none is being opened.
 * - `starting`: a session will be opened: the agents are searched, the agent starts or hasn't answered yet. A conversation
 *   that is reopened, or that is saved, stays visible.
 * - `loading`: the agent replays the session's history, which is shown as it arrives. Only after `starting`.
 * - `ready`: the agent has the displayed session.
 * - `ended`: the agent of the displayed session ended, or never started. The conversation stays readable.
 *
 * `empty`, `ready` and `ended` become `starting` when a session is opened. `starting` and `loading` become `ready`; if that
 * fails or the user cancels, the view shows what it showed before, else nothing. `ready` becomes `ended` with its agent.
 * Between `empty`, `ready` and `ended`, a view also changes when it displays another session, or none.
 */
export type ViewPhase = 'empty' | 'starting' | 'loading' | 'ready' | 'ended'

/** How far a view is in opening a session. `searching`: it starts once the available agents are known. */
export type OpeningStep = 'searching' | 'starting' | 'loading'

/** The phase follows from the session that is being opened, else from the displayed one. Nothing else stores it. */
export function viewPhase(
  opening: OpeningStep | undefined,
  displayed: { phase: SessionPhase } | undefined,
): ViewPhase {
  if (opening) return opening === 'loading' ? 'loading' : 'starting'
  if (!displayed) return 'empty'
  return displayed.phase === 'ready' ? 'ready' : 'ended'
}
