/** Asks for MCP inputs with VS Code, and identifies the workspace. */
import * as vscode from 'vscode'
import type { InputPrompter } from '../mcp/inputs.ts'
import type { McpInput } from '../mcp/mcp-settings.ts'

/** Asks with VS Code's input box and quick pick; Escape cancels. */
export const vscodeInputPrompter: InputPrompter = {
  async prompt(input: McpInput, serverName: string): Promise<string | undefined> {
    const title = vscode.l10n.t('MCP server "{0}"', serverName)
    const description = input.description ?? vscode.l10n.t('Value of "{0}"', input.id)
    if (input.type === 'pickString') {
      const items = input.options.map(option => ({
        label: option.label,
        value: option.value,
        ...(option.value === input.default ? { description: vscode.l10n.t('default') } : {}),
      }))
      // The default comes first, because Enter accepts the first item.
      items.sort((a, b) => Number(b.value === input.default) - Number(a.value === input.default))
      const picked = await vscode.window.showQuickPick(items, {
        title,
        placeHolder: description,
        ignoreFocusOut: true,
      })
      return picked?.value
    }
    return vscode.window.showInputBox({
      title,
      prompt: vscode.l10n.t("{0} (stored in VS Code's secret storage)", description),
      password: input.password,
      ignoreFocusOut: true,
      ...(input.default === undefined ? {} : { value: input.default }),
    })
  },
}

/** Identifies the workspace for `McpInputs`: by its file, its folder, or none. */
export function workspaceIdentity(): string {
  const { workspaceFile, workspaceFolders } = vscode.workspace
  return (workspaceFile ?? workspaceFolders?.[0]?.uri)?.toString() ?? ''
}
