import * as vscode from 'vscode'
import type { ChatTools } from '../../app/mcp/chat-tools.ts'

/** As in `contributes.mcpServerDefinitionProviders`. */
const PROVIDER = 'parley.editorTools'
const SETTING = 'parley.editorToolsInChat'
/** Only for the list of servers; the address of the tools, with its token, isn't known before VS Code starts them. */
const NOT_STARTED = 'http://127.0.0.1'

/** Publishes the editor tools to VS Code's own chat, if the user has turned that on. Nothing starts before the chat uses them. */
export function registerChatTools(
  version: string,
  tools: () => Promise<Pick<ChatTools, 'open'>>,
): vscode.Disposable {
  // some editors that are based on VS Code leave it out
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
