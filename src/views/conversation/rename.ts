import * as l10n from '@vscode/l10n'
import * as z from 'zod'
import type { ConversationController } from '../../sessions/conversation-controller.ts'
import type { SessionOrganizer } from '../../sessions/listing/session-organizer.ts'
import { referenceOf } from '../../sessions/open-session.ts'
import { RenameSession } from '../bridge/session-title.ts'
import { tellFailure } from '../tell-failure.ts'
import { waitForAgent } from '../wait-for-agent.ts'
import type { WebviewConnection } from '../webview-connection.ts'

const renameSession = z.object({ key: z.string().min(1).max(256), title: z.string().max(4096) })

/** Names the session on the screen as its header says, and says what did not work. */
export function listenForRename(
  connection: WebviewConnection,
  controller: ConversationController,
  organizer: SessionOrganizer,
): void {
  connection.onNotification(RenameSession, renameSession, ({ key, title }) => {
    const { current } = controller
    if (!current || key !== controller.key) return
    return tellFailure(
      current.agentId,
      (agentId, then) => controller.offerSignIn(agentId, then),
      () =>
        waitForAgent(current.agentName, l10n.t('Rename Session'), () =>
          organizer.rename(referenceOf(current), title),
        ),
    )
  })
}
