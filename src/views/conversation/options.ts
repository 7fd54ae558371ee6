import type { ConversationController } from '../../sessions/conversation-controller.ts'
import { SetConfigOption } from '../bridge/conversation.ts'
import { setConfigOption, toggleFavorite } from '../bridge/incoming.ts'
import { ToggleFavorite } from '../bridge/options.ts'
import type { OptionMemory } from '../storage/option-memory.ts'
import type { WebviewConnection } from '../webview-connection.ts'

/** Listens to what the person does with the session's options. */
export function listenToOptions(
  connection: WebviewConnection,
  { controller, optionMemory }: { controller: ConversationController; optionMemory: OptionMemory },
): void {
  connection.onNotification(SetConfigOption, setConfigOption, ({ key, optionId, value }) => {
    const { agentId } = controller
    if (key !== controller.key) return
    if (agentId !== undefined && typeof value === 'string') optionMemory.used(agentId, optionId, value)
    return controller.setConfigOption(optionId, value)
  })
  connection.onNotification(ToggleFavorite, toggleFavorite, ({ key, optionId, value }) => {
    const { agentId } = controller
    if (key === controller.key && agentId !== undefined) optionMemory.toggle(agentId, optionId, value)
  })
}
