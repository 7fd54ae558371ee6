import type { ConversationSurface, ConversationSurfaces } from '../conversation/conversation-surface.ts'
import type { ConversationTabs } from '../conversation/conversation-tabs.ts'
import { type CommandHandlers, CommandId, SIDE_BAR_COMMANDS, TAB_COMMANDS } from '../ids.ts'

type Handlers = Record<
  (typeof CommandId)[keyof typeof CommandId],
  CommandHandlers[string & keyof CommandHandlers]
>
type TitleBarHandlers = Omit<CommandHandlers, keyof Handlers>

/**
 * The buttons in the title bars of conversations. VS Code does not tell a command which view's button was pressed, so
 * each title bar has commands of its own: they make their conversation the active one and run the command.
 */
export function titleBarCommands(
  surfaces: Pick<ConversationSurfaces, 'activate'>,
  sideBar: ConversationSurface,
  tabs: Pick<ConversationTabs, 'active'>,
  handlers: Pick<
    Handlers,
    (typeof CommandId)[(typeof SIDE_BAR_COMMANDS)[number] | (typeof TAB_COMMANDS)[number]]
  >,
) {
  const on = (surface: () => ConversationSurface | undefined, name: keyof typeof handlers) => () => {
    const pressed = surface()
    if (pressed) surfaces.activate(pressed)
    return handlers[name]()
  }
  return Object.fromEntries([
    ...SIDE_BAR_COMMANDS.map(name => [`parley.sideBar.${name}`, on(() => sideBar, CommandId[name])]),
    ...TAB_COMMANDS.map(name => [`parley.tab.${name}`, on(() => tabs.active, CommandId[name])]),
  ]) as Pick<
    TitleBarHandlers,
    `parley.sideBar.${(typeof SIDE_BAR_COMMANDS)[number]}` | `parley.tab.${(typeof TAB_COMMANDS)[number]}`
  >
}
