/**
 * The phase of a session:
 * - `loading`: the agent replays the conversation, which is shown as it arrives; prompts wait.
 * - `ready`: prompts can be sent.
 * - `ended`: the agent ended; the conversation stays readable.
 * - `closed`: Parley closed the session; the conversation stays readable.
 */
export type SessionPhase = 'loading' | 'ready' | 'ended' | 'closed'

/**
 * What a conversation view shows besides its entries:
 * - `empty`: no session, and none is being opened.
 * - `starting`: a session will be opened: Parley searches for the agents, or the agent is starting or hasn't answered yet. A conversation
 *   that is reopened or saved stays visible.
 * - `loading`: the agent replays the session's history, which is shown as it arrives. Only after `starting`.
 * - `ready`: the agent has the displayed session.
 * - `ended`: the displayed session can't be used: its agent ended or never started, or Parley closed the session. The conversation stays
 *   readable.
 *
 * `empty`, `ready` and `ended` become `starting` when a session is opened. `starting` and `loading` become `ready`; if the opening fails or
 * the user cancels, the view shows its previous session, or is `empty`. `ready` becomes `ended` when its agent ends or Parley closes the session. A view also changes
 * between `empty`, `ready` and `ended` when it displays another session, or none.
 */
export type ViewPhase = 'empty' | 'starting' | 'loading' | 'ready' | 'ended'

/** How far a view is in opening a session. `searching`: the agent starts once the available agents are known. */
export type OpeningStep = 'searching' | 'starting' | 'loading'

/**
 * Returns the phase of a view, which follows from the session that is being opened, else from the displayed one. The phase isn't stored
 * anywhere.
 */
export function viewPhase(
  opening: OpeningStep | undefined,
  displayed: { phase: SessionPhase } | undefined,
): ViewPhase {
  if (opening) return opening === 'loading' ? 'loading' : 'starting'
  if (!displayed) return 'empty'
  return displayed.phase === 'ready' ? 'ready' : 'ended'
}
