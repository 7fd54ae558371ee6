import * as l10n from '@vscode/l10n'
import type { ConversationController } from '../../sessions/conversation-controller.ts'
import type { SessionUpkeep } from '../../sessions/listing/session-upkeep.ts'
import { referenceOf } from '../../sessions/session-reference.ts'
import { renameSession } from '../bridge/incoming-session.ts'
import { RenameSession } from '../bridge/session-title.ts'
import { tellFailure } from '../tell-failure.ts'
import { waitForAgent } from '../wait-for-agent.ts'
import type { WebviewConnection } from '../webview-connection.ts'

/** Names the session on the screen as its header says, and says what did not work. */
export function listenForRename(
  connection: WebviewConnection,
  controller: ConversationController,
  upkeep: SessionUpkeep,
): void {
  connection.onNotification(RenameSession, renameSession, ({ key, title }) => {
    const { current } = controller
    if (!current || key !== controller.key) return
    return tellFailure(
      current.agentId,
      (agentId, then) => controller.offerSignIn(agentId, then),
      () =>
        waitForAgent(current.agentName, l10n.t('Rename Session'), () =>
          upkeep.rename(referenceOf(current), title),
        ),
    )
  })
}
