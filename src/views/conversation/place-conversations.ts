import type * as vscode from 'vscode'
import type { Disposable } from '../../common/disposable.ts'
import type { ConversationController } from '../../sessions/conversation-controller.ts'
import type { Keep } from '../../sessions/ports.ts'
import type { ConversationBridgeParts } from './conversation-bridge.ts'
import { ConversationSurfaces } from './conversation-surface.ts'
import { ConversationTabs } from './conversation-tabs.ts'
import { ConversationView } from './conversation-view.ts'

export interface PlacesParts {
  extensionUri: vscode.Uri
  bridge: Omit<ConversationBridgeParts, 'controller'>
  keep: Keep
  /** Every place has a controller of its own, which remembers its session in `keep`. */
  createController: (keep: Keep) => ConversationController
  own: { add<T extends Disposable>(item: T): T }
}

/** The places for conversations: the view of the side bar, and as many editor tabs as the person opens. */
export function placeConversations({ extensionUri, bridge, keep, createController, own }: PlacesParts): {
  sideBar: ConversationView
  surfaces: ConversationSurfaces
  tabs: ConversationTabs
} {
  const controller = own.add(createController(keep))
  const sideBar: ConversationView = new ConversationView(
    extensionUri,
    { ...bridge, controller },
    {
      onFirstShown: () => void bridge.agents.ready().then(() => controller.restore()),
      onUse: () => surfaces.activate(sideBar),
    },
  )
  const surfaces = own.add(new ConversationSurfaces(sideBar))
  own.add(sideBar.register())
  const tabs = own.add(new ConversationTabs({ ...bridge, extensionUri, surfaces, keep, createController }))
  return { sideBar, surfaces, tabs }
}
