import { SetConfigOption } from '../bridge/conversation.ts'
import { setConfigOption, toggleFavourite } from '../bridge/incoming.ts'
import { ToggleFavourite } from '../bridge/options.ts'
import type { WebviewConnection } from '../webview-connection.ts'
import type { ConversationBridgeParts } from './conversation-bridge.ts'

/** Listens to what the person does with the session's options. */
export function listenToOptions(
  connection: WebviewConnection,
  { controller, optionMemory }: Pick<ConversationBridgeParts, 'controller' | 'optionMemory'>,
): void {
  connection.onNotification(SetConfigOption, setConfigOption, ({ key, optionId, value }) => {
    const { agentId } = controller
    if (key !== controller.key) return
    if (agentId !== undefined && typeof value === 'string') optionMemory.used(agentId, optionId, value)
    return controller.setConfigOption(optionId, value)
  })
  connection.onNotification(ToggleFavourite, toggleFavourite, ({ key, optionId, value }) => {
    const { agentId } = controller
    if (key === controller.key && agentId !== undefined) optionMemory.toggle(agentId, optionId, value)
  })
}
