import * as l10n from '@vscode/l10n'
import { isCancelled, messageOf, UnavailableError } from '../../common/errors.ts'
import { plainMessage } from '../../common/plain-message.ts'
import type { McpServers } from '../../mcp/mcp-servers.ts'
import type { McpSignIns, McpSignInsOptions } from '../../mcp/sign-in/mcp-sign-ins.ts'
import { confirmSignOut } from '../ask-agent.ts'
import { type CommandHandlers, CommandId } from '../ids.ts'
import type { Dialogs, Workbench } from '../workbench.ts'

interface McpSignInOptions {
  mcp: Pick<McpServers, 'plan' | 'resolve'>
  mcpSignIns: Pick<McpSignIns, 'signIn' | 'signOut' | 'urls'>
  workbench: Pick<Workbench, 'dialogs'>
}

/** Returns a function that asks before the browser opens, because the server chooses the host, and the workspace may choose the server. */
export function confirmMcpSignIn(dialogs: Pick<Dialogs, 'confirm'>) {
  return async (serverName: string, host: string): Promise<boolean> => {
    const signIn = l10n.t('Open Browser')
    const detail = l10n.t('Your browser opens {0}. Sign in only if you trust the server and this host.', host)
    const answer = await dialogs.confirm(
      plainMessage(l10n.t('The MCP server "{0}" requires you to sign in at {1}.', serverName, host)),
      { detail: plainMessage(detail) },
      signIn,
    )
    return answer === signIn
  }
}

/**
 * Returns a function that asks for the OAuth client that the user has registered with a server. Used if the server doesn't support dynamic
 * client registration.
 */
export function askMcpClient(dialogs: Pick<Dialogs, 'input'>): McpSignInsOptions['askClient'] {
  return async (serverName, redirectUrl, known, signal) => {
    const id = await dialogs.input({
      title: l10n.t('Client ID for {0}', serverName),
      prompt: l10n.t(
        'The server needs an OAuth client that you register with it. Its redirect URL is {0}.',
        redirectUrl,
      ),
      ...(known !== undefined && { value: known }),
      ...{ ignoreFocusOut: true, signal },
    })
    const client_id = id?.trim() ?? ''
    if (client_id === '') return undefined
    const secret = await dialogs.input({
      title: l10n.t('Client secret for {0}', serverName),
      prompt: l10n.t("Stored in VS Code's secret storage. Leave empty if the client has no secret."),
      ...{ password: true, ignoreFocusOut: true, signal },
    })
    if (secret === undefined) return undefined
    return { client_id, ...(secret !== '' && { client_secret: secret }) }
  }
}

/** Returns *Sign In to MCP Server…* and *Sign Out of MCP Server…*. */
export function mcpSignInCommands(options: McpSignInOptions) {
  const { mcp, mcpSignIns, workbench } = options
  const { dialogs } = workbench
  return {
    [CommandId.signInToMcpServer]: async () => {
      const { planned } = await mcp.plan()
      const items = planned.flatMap(({ key, name, server, exclusion }) =>
        exclusion || !server || server.type === 'stdio'
          ? []
          : [{ label: name, description: server.url, key }],
      )
      if (items.length === 0) throw new UnavailableError(l10n.t('No MCP server with a URL is configured.'))
      const picked = await dialogs.pick(items, { placeholder: l10n.t('Select an MCP server to sign in to') })
      if (picked) await signInToMcpServer(options, picked.key, picked.label)
    },
    [CommandId.signOutOfMcpServer]: async () => {
      const urls = await mcpSignIns.urls()
      if (urls.length === 0) throw new UnavailableError(l10n.t("You aren't signed in to an MCP server."))
      const picked = await dialogs.pick(
        urls.map(label => ({ label })),
        { placeholder: l10n.t('Select an MCP server to sign out of') },
      )
      if (!picked || !(await confirmSignOut(dialogs, picked.label))) return
      await mcpSignIns.signOut(picked.label)
      void dialogs.info(plainMessage(l10n.t('Signed out of {0}.', picked.label)))
    },
  } satisfies Partial<CommandHandlers>
}

/** Signs in to an MCP server, shows the progress, and tells the user the result. Resolves to whether the sign-in succeeded. */
export async function signInToMcpServer(
  { mcp, mcpSignIns, workbench: { dialogs } }: McpSignInOptions,
  key: string,
  name: string,
): Promise<boolean> {
  const resolution = await mcp.resolve(key)
  if ('reason' in resolution) throw new UnavailableError(resolution.reason)
  const { server } = resolution
  if (server.type === 'stdio') return false
  const title = l10n.t('Signing in to {0}', name)
  try {
    await dialogs.progress({ title, where: 'notification', cancellable: true }, (_, signal) =>
      mcpSignIns.signIn(server, signal),
    )
  } catch (error) {
    if (isCancelled(error)) return false
    void dialogs.error(plainMessage(l10n.t("Couldn't sign in to {0}: {1}", name, messageOf(error))))
    return false
  }
  void dialogs.info(plainMessage(l10n.t('Signed in to {0}. New sessions use this sign-in.', name)))
  return true
}
