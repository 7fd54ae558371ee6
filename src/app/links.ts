import * as l10n from '@vscode/l10n'
import { UnavailableError } from '../common/errors.ts'
import { type SessionId, sessionKey, sessionOfKey } from '../common/session-key.ts'
import { hasHidden, visible, visibleProse } from '../common/visible.ts'
import type { AgentDirectory } from '../sessions/ports.ts'
import type { ConversationSurfaces } from './conversation/conversation-surface.ts'
import { type CommandHandlers, CommandId, HiddenCommandId } from './ids.ts'
import type { Workbench } from './workbench.ts'

/** The maximum lengths of the ids in a link, and of its prompt, in characters. */
const MAX_ID = 4096
const MAX_PROMPT = 20_000

const SESSION = '/session/'
const NEW = '/new'

export type Link =
  | ({ type: 'session' } & SessionId)
  | { type: 'new'; agentId: string | undefined; prompt: string }

/** Returns the encoded path of a link to a session. */
export function sessionPath({ agentId, sessionId }: SessionId): string {
  return SESSION + encodeURIComponent(sessionKey(agentId, sessionId))
}

/**
 * Reads the path and query of a link, which anyone may have written. VS Code passes both decoded once. The prompt is the last part, so that
 * it may contain `&`.
 * @throws UnavailableError with the reason for the user
 */
export function readLink(path: unknown, query: unknown): Link {
  if (typeof path !== 'string' || typeof query !== 'string') throw invalid()
  if (path.startsWith(SESSION)) {
    const key = path.slice(SESSION.length)
    const isKey = key.length <= MAX_ID && /^[^/]+\/./.test(key) && isDecodable(key) && !hasHidden(key)
    if (!isKey) throw invalid()
    const { agentId, sessionId } = sessionOfKey(key)
    if (hasHidden(agentId)) throw invalid()
    return { type: 'session', agentId, sessionId }
  }
  if (path !== NEW && path !== `${NEW}/`) throw invalid()
  const { agent, prompt = '' } = /^(?:agent=(?<agent>[^&]*))?(?:(?:^|&)prompt=(?<prompt>.*))?$/s.exec(query)
    ?.groups ?? { agent: '\0' }
  if (agent !== undefined && (agent.length > MAX_ID || hasHidden(agent))) throw invalid()
  const words = prompt.replace(/\r\n?/g, '\n')
  if (words.length > MAX_PROMPT)
    throw new UnavailableError(
      l10n.t('The prompt in the link is too long. The limit is {0} characters.', MAX_PROMPT),
    )
  // the user must see all of the text that they would send
  if (visibleProse(words) !== words)
    throw new UnavailableError(l10n.t('The prompt in the link contains invisible characters.'))
  return { type: 'new', agentId: agent || undefined, prompt: words }
}

export interface LinkOptions {
  workbench: Workbench
  surfaces: ConversationSurfaces
  agents: Pick<AgentDirectory, 'get' | 'ready'>
  history: { find(agentId: string, sessionId: string): unknown }
  historyView: { open(agentId: string, sessionId: string): Promise<void> }
}

/** Returns the commands that open links into Parley. A link at most fills the input: only the user sends a prompt. */
export function linkCommands({ workbench, surfaces, agents, history, historyView }: LinkOptions) {
  return {
    [HiddenCommandId.openLink]: async (path?: unknown, query?: unknown) => {
      const link = readLink(path, query)
      if (!workbench.isTrusted)
        throw new UnavailableError(l10n.t("Links don't open in Restricted Mode. Trust this workspace first."))
      await agents.ready()
      if (link.type === 'session') {
        if (!history.find(link.agentId, link.sessionId))
          throw new UnavailableError(l10n.t("The session in this link wasn't found on this machine."))
        await historyView.open(link.agentId, link.sessionId)
        return
      }
      const { agentId, prompt } = link
      if (agentId !== undefined && !agents.get(agentId))
        throw new UnavailableError(l10n.t("The agent “{0}” in this link isn't available.", visible(agentId)))
      const { active } = surfaces
      const before = active.controller.current
      await surfaces.open(active, opener => opener.start(agentId))
      // if no session was started, another conversation with its own draft may be displayed
      const { current, keyBefore } = active.controller
      const isNew = !current || (current !== before && keyBefore !== undefined)
      if (prompt.trim() !== '' && isNew) active.write(prompt)
    },
    [CommandId.copyLink]: async () => {
      const current = await surfaces.active.controller.whole()
      if (!current) throw new UnavailableError(l10n.t('The conversation has no session.'))
      await copyLink(workbench, { agentId: current.agentId, sessionId: current.session.sessionId })
    },
  } satisfies Partial<CommandHandlers>
}

/** Copies a link that opens the session in VS Code. */
export async function copyLink(
  workbench: Pick<Workbench, 'copy' | 'dialogs' | 'linkStart'>,
  session: SessionId,
): Promise<void> {
  await workbench.copy(`${workbench.linkStart}${sessionPath(session)}`)
  workbench.dialogs.showStatus(l10n.t('Copied to the clipboard'))
}

function invalid(): UnavailableError {
  return new UnavailableError(l10n.t("This isn't a valid Parley link."))
}

function isDecodable(key: string): boolean {
  try {
    decodeURIComponent(key.slice(0, key.indexOf('/')))
    return true
  } catch {
    return false
  }
}
