import * as l10n from '@vscode/l10n'
import { delay } from '../common/async.ts'
import type { Disposable } from '../common/disposable.ts'
import { CancelledError } from '../common/errors.ts'
import { ACQUIRE_SESSION_POLL_MS, FOLLOW_WINDOW_MS, TAKE_OVER_MS } from '../common/limits.ts'
import type { SessionId } from '../common/session-key.ts'
import type { Leases } from '../history/leases.ts'
import type { OpenSession } from './open-session.ts'
import type { SavedConversations } from './ports.ts'

/** Which sessions this window has, among all windows of the machine. */
export type SessionLeases = Pick<
  Leases,
  'acquire' | 'release' | 'request' | 'seize' | 'onDidLose' | 'onDidRequest'
>

/** The session is open in another window. */
export class SessionElsewhereError extends Error {
  override readonly name = 'SessionElsewhereError'
  /** Its agent runs in the agent host, so that its turn goes on when another window takes it over. */
  readonly isHosted: boolean

  constructor(isHosted = false) {
    super(l10n.t('The session is open in another window.'))
    this.isHosted = isHosted
  }
}

/**
 * Requests another window to close the session, and takes it from that window after `graceMs`. If it had to, returns the id of
 * that window; empty if that isn't known. Rejects with `CancelledError` when `signal` aborts.
 */
export async function takeOver(
  leases: SessionLeases,
  { agentId, sessionId }: SessionId,
  signal: AbortSignal,
  graceMs = TAKE_OVER_MS,
): Promise<string | undefined> {
  const end = performance.now() + graceMs
  while (!leases.acquire(agentId, sessionId)) {
    if (performance.now() >= end) return leases.seize(agentId, sessionId) ?? ''
    leases.request(agentId, sessionId)
    await delay(ACQUIRE_SESSION_POLL_MS)
    if (signal.aborted) throw new CancelledError()
  }
  return undefined
}

/** Shows a conversation as another window saves it, read-only, until it's disposed. */
export function followElsewhere(
  { agentId, session }: OpenSession,
  saved: Pick<SavedConversations, 'read' | 'revision'>,
): Disposable {
  let shown: string | undefined
  const showSaved = () => {
    const revision = saved.revision(agentId, session.sessionId)
    if (revision === shown) return
    shown = revision
    const conversation = saved.read(agentId, session.sessionId)
    if (conversation) session.follow(conversation)
  }
  showSaved()
  const timer = setInterval(showSaved, FOLLOW_WINDOW_MS)
  timer.unref()
  return { dispose: () => clearInterval(timer) }
}
