import * as vscode from 'vscode'
import type { ChatTools } from '../../app/mcp/chat-tools.ts'

/** The provider's ID, as in `contributes.mcpServerDefinitionProviders`. */
const PROVIDER = 'parley.editorTools'
const SETTING = 'parley.editorToolsInChat'
/** A placeholder URL for the list of servers; the real URL, with its token, is known only when VS Code starts the server. */
const NOT_STARTED = 'http://127.0.0.1'

/** Publishes the editor tools to VS Code's own chat, if the user has turned that on. Nothing starts before the chat uses them. */
export function registerChatTools(
  version: string,
  tools: () => Promise<Pick<ChatTools, 'open'>>,
): vscode.Disposable {
  // some editors that are based on VS Code have no `vscode.lm`
  const lm: Partial<typeof vscode.lm> | undefined = vscode.lm
  if (!lm?.registerMcpServerDefinitionProvider) return vscode.Disposable.from()
  const change = new vscode.EventEmitter<void>()
  // the setting is read here, since its schema isn't loaded at startup
  const isOn = () =>
    vscode.workspace.isTrusted && vscode.workspace.getConfiguration().get<unknown>(SETTING) === true
  return vscode.Disposable.from(
    change,
    vscode.workspace.onDidGrantWorkspaceTrust(() => change.fire()),
    vscode.workspace.onDidChangeConfiguration(event => {
      if (event.affectsConfiguration(SETTING)) change.fire()
    }),
    lm.registerMcpServerDefinitionProvider(PROVIDER, {
      onDidChangeMcpServerDefinitions: change.event,
      provideMcpServerDefinitions: () =>
        isOn()
          ? [
              new vscode.McpHttpServerDefinition(
                'VS Code (Parley)',
                vscode.Uri.parse(NOT_STARTED),
                {},
                version,
              ),
            ]
          : [],
      async resolveMcpServerDefinition(server: vscode.McpHttpServerDefinition) {
        if (!isOn()) return undefined
        const { url, headers } = await (await tools()).open()
        server.uri = vscode.Uri.parse(url)
        server.headers = headers
        return server
      },
    }),
  )
}
