/** What a webview may send about a session as a whole; see `incoming.ts`. */
import * as z from 'zod'

const id = z.string().max(4096)
const title = z.string().max(4096)

export const renameSession = z.object({ key: z.string().min(1).max(256), title })
export const historyRename = z.object({ agentId: id, sessionId: id, title })

/** What VS Code hands to a command of a session's context menu: the row's `data-vscode-context`. */
export const historyMenuContext = z.object({ parleyAgentId: id, parleySessionId: id })
