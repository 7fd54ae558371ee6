import * as z from 'zod'
import { agentIdOf } from '../../agents/presets.ts'
import type { InstallManager } from '../../agents/registry/install-manager.ts'
import type { ConversationController } from '../../sessions/conversation-controller.ts'
import { CancelInstall, InstallOffered } from '../bridge/installs.ts'
import type { WebviewConnection } from '../webview-connection.ts'

const id = z.string().min(1).max(64)

const installOffered = z.object({ id, stated: z.string().max(8192).optional() })
const cancelInstall = z.object({ id })

/** Installs what the empty view offers, and begins a session with it once it is there. */
export function listenForInstalls(
  connection: WebviewConnection,
  controller: ConversationController,
  installs: InstallManager,
): void {
  connection.onNotification(InstallOffered, installOffered, ({ id, stated }) => {
    const offer = installs.featured().find(one => one.id === id)
    if (!offer) return
    const installing = installs
      .install(id, stated)
      .then(outcome => (outcome === 'installed' ? { agentId: agentIdOf(id) } : undefined))
    return controller.startAfter(offer.preset.name, installing)
  })
  connection.onNotification(CancelInstall, cancelInstall, ({ id }) => installs.cancel(id))
}
