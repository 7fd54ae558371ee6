import * as l10n from '@vscode/l10n'
import type { ContentBlock } from '../acp/model.ts'
import { chipOf } from '../common/block-chip.ts'
import { draftOf, inText } from '../common/draft.ts'
import type { Session } from '../conversation/session.ts'
import type { SessionState } from '../conversation/state.ts'
import type { LocalSession } from '../history/session-store.ts'
import type { SessionRecords } from './ports.ts'
import { shortTitle } from './short-title.ts'

/** Returns the title of a session: the user's title, else the automatic title. */
export function titleOf(session: Session): string | undefined {
  return session.conversation.givenTitle ?? sessionTitle(session.state)
}

/** The recorded title of a session. */
export function recordedTitle(
  record: Pick<LocalSession, 'title' | 'givenTitle'> | undefined,
): string | undefined {
  return record?.givenTitle ?? record?.title
}

/** Returns the automatic title: the agent's title, else a title from the first prompt, else `undefined`. */
export function sessionTitle(state: SessionState): string | undefined {
  const reported = state.title?.trim()
  if (reported) return reported
  for (const entry of state.entries) {
    if (entry.kind !== 'message' || entry.role !== 'user') continue
    const title = shortTitle(promptText(entry.blocks))
    if (title) return title
  }
  return undefined
}

/** Gives a session its recorded title until the agent reports another: some agents report titles only in their list of sessions. */
export function recordListedTitle(
  records: Pick<SessionRecords, 'get'>,
  { agentId, session }: { agentId: string; session: Session },
  { sessionId, title }: { sessionId: string; title?: string | undefined },
): void {
  const record = records.get(agentId, sessionId)
  const listed = title !== record?.givenTitle ? title : undefined
  const known = listed ?? record?.title
  if (session.state.title === undefined && known?.trim()) session.receive({ type: 'info', title: known })
}

/** Returns the title of a fork until its agent reports a title. A fork of a fork has the same title as the fork. */
export function titleOfFork(title: string): string {
  const [start = '', end = ''] = l10n.t('Fork of {0}', '\0').split('\0')
  return title.startsWith(start) && title.endsWith(end) ? title : l10n.t('Fork of {0}', title)
}

/** The agent's title, if it ever reported one; else a title from the first prompt. */
export function titleToRecord(
  records: Pick<SessionRecords, 'get'>,
  { agentId, session }: { agentId: string; session: Session },
): string | undefined {
  if (session.state.title !== undefined) return session.state.title
  return records.get(agentId, session.sessionId)?.title ?? sessionTitle(session.state)
}

/** The beginning of a prompt's text as typed in the composer. */
export function promptText(blocks: readonly ContentBlock[]): string {
  const few = blocks
    .slice(0, 12)
    .map(block => (block.type === 'text' ? { ...block, text: block.text.slice(0, 4000) } : block))
  const within = inText(few)
  const standing = few.filter((_, i) => within[i])
  const written = draftOf(standing, block => ({ id: '', ...chipOf(block) })).text
  return written.trim() === '' ? '' : written
}

/** A title as a file name that is valid on every system. */
export function fileNameOfTitle(title: string): string {
  const name = title
    // biome-ignore lint/suspicious/noControlCharactersInRegex: no file's name has them
    .replace(/[\u0000-\u001f<>:"/\\|?*]+/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, 60)
    .replace(/\p{Surrogate}/gu, '')
    .replace(/[. ]+$/, '')
  return name || 'conversation'
}
