import * as l10n from '@vscode/l10n'
import type { Attachment } from '../../bridge/conversation.ts'
import { MAX_CONVERSATION_CONTEXT } from '../../common/limits.ts'
import { conversationMarkdown, latestTurns } from '../../conversation/markdown-export.ts'
import type { SessionState } from '../../conversation/state.ts'
import { CONVERSATION_URI } from '../../sessions/continuation.ts'
import type { OpenSession } from '../../sessions/open-session.ts'
import { fileNameOfTitle, titleOf } from '../../sessions/session-title.ts'

let last = 0

/**
 * The conversation, or the turns before `until`, as context for another one; as text if the agent doesn't support files.
 * Of one longer than `max` characters, the latest turns, which its name says.
 */
export function conversationAttachment(
  open: OpenSession,
  embedded: boolean,
  until?: number,
  max?: number,
  summary?: string,
): Attachment {
  const about = { ...aboutOf(open), ...(summary !== undefined && { summary }) }
  return transcriptAttachment(turnsBefore(open, until), about, embedded, max)
}

/** The end of what an attachment of at most `max` characters leaves out, which is as long; `undefined` if that is nothing. */
export function leftOutOf(open: OpenSession, until: number | undefined, max: number): string | undefined {
  const state = turnsBefore(open, until)
  const { from } = latestTurns(state, aboutOf(open), max)
  if (from === 0) return undefined
  return latestTurns({ ...state, entries: state.entries.slice(0, from) }, aboutOf(open), max).text
}

function turnsBefore(open: OpenSession, until: number | undefined) {
  const { entries, terminals } = open.session.state
  return { terminals, entries: until === undefined ? entries : entries.filter(({ turn }) => turn < until) }
}

/** The latest turns of a conversation as context, which its name says if there are more. */
export function transcriptAttachment(
  state: Pick<SessionState, 'entries' | 'terminals'>,
  about: ReturnType<typeof aboutOf>,
  embedded: boolean,
  max = MAX_CONVERSATION_CONTEXT,
): Attachment {
  const { title, agentName } = about
  const latest = latestTurns(state, about, max)
  const cut = latest.isPart
    ? l10n.t('end of the last turn')
    : latest.turns < latest.of && l10n.t('last {0} of {1} turns', latest.turns, latest.of)
  const fileName = fileNameOfTitle(title)
  const uri = `${CONVERSATION_URI}${encodeURIComponent(cut ? `${fileName} (${cut})` : fileName)}.md`
  const origin = l10n.t('Conversation with {0}', agentName)
  const { text } = latest
  return {
    id: `conversation-${++last}`,
    label: cut ? `${title} (${cut})` : title,
    icon: 'comment-discussion',
    detail: cut ? `${origin} (${cut})` : origin,
    content: embedded ? { type: 'resource', uri, mimeType: 'text/markdown', text } : { type: 'text', text },
  }
}

/** The whole conversation as Markdown. */
export function documentOf(open: OpenSession): string {
  return conversationMarkdown(open.session.state, aboutOf(open))
}

function aboutOf({ session, agentName, plan }: OpenSession) {
  return { title: titleOf(session) || l10n.t('Conversation'), agentName, cwd: plan.setup.cwd }
}
