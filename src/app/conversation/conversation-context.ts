import * as l10n from '@vscode/l10n'
import type { Attachment } from '../../bridge/conversation.ts'
import { MAX_CONVERSATION_CONTEXT } from '../../common/limits.ts'
import { conversationMarkdown, latestTurns } from '../../conversation/markdown-export.ts'
import type { SessionState } from '../../conversation/state.ts'
import { CONVERSATION_URI, conversationInfo } from '../../sessions/continuation.ts'
import type { OpenSession } from '../../sessions/open-session.ts'
import { fileNameOfTitle } from '../../sessions/session-title.ts'

let last = 0

/** Returns the conversation as context for another one, as text if the agent doesn't support embedded files. */
export function conversationAttachment(open: OpenSession, embedded: boolean): Attachment {
  return transcriptAttachment(open.session.state, conversationInfo(open), embedded)
}

/** Returns the latest turns of a conversation as context. The name says whether there are more turns. */
export function transcriptAttachment(
  state: Pick<SessionState, 'entries' | 'terminals'>,
  about: ReturnType<typeof conversationInfo>,
  embedded: boolean,
): Attachment {
  const { title, agentName } = about
  const latest = latestTurns(state, about, MAX_CONVERSATION_CONTEXT)
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

/** Returns the whole conversation as Markdown. */
export function documentOf(open: OpenSession): string {
  return conversationMarkdown(open.session.state, conversationInfo(open))
}
