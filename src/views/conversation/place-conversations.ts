import type * as vscode from 'vscode'
import type { Disposable } from '../../common/disposable.ts'
import type { ConversationController } from '../../sessions/conversation-controller.ts'
import type { Keep } from '../../sessions/ports.ts'
import type { SessionManager } from '../../sessions/session-manager.ts'
import { SessionMarks } from '../../sessions/session-marks.ts'
import type { ConversationBridgeParts } from './conversation-bridge.ts'
import { ConversationSurfaces } from './conversation-surface.ts'
import { ConversationTabs } from './conversation-tabs.ts'
import { ConversationView } from './conversation-view.ts'

export interface PlacesParts {
  extensionUri: vscode.Uri
  bridge: Omit<ConversationBridgeParts, 'controller'>
  manager: SessionManager
  keep: Keep
  /** Every place has a controller of its own, which remembers its session in `keep`. */
  createController: (keep: Keep) => ConversationController
  own: { add<T extends Disposable>(item: T): T }
}

/** The places for conversations: the view of the side bar, and as many editor tabs as the person opens. */
export function placeConversations({
  extensionUri,
  bridge,
  manager,
  keep,
  createController,
  own,
}: PlacesParts): {
  sideBar: ConversationView
  surfaces: ConversationSurfaces
  tabs: ConversationTabs
  marks: SessionMarks
} {
  const marks = own.add(
    new SessionMarks(manager, (open): boolean => surfaces.showing(open)?.isVisible ?? false),
  )
  const controller = own.add(createController(keep))
  const sideBar: ConversationView = new ConversationView(
    extensionUri,
    { ...bridge, controller },
    {
      onFirstShown: () => void bridge.agents.ready().then(() => controller.restore()),
      onUse: () => surfaces.activate(sideBar),
      onSeen: () => surfaces.looked(),
    },
  )
  const surfaces = own.add(new ConversationSurfaces(sideBar))
  own.add(surfaces.onDidLook(() => marks.look()))
  own.add(sideBar.register())
  const tabs = own.add(
    new ConversationTabs({ ...bridge, extensionUri, surfaces, marks, keep, createController }),
  )
  return { sideBar, surfaces, tabs, marks }
}
