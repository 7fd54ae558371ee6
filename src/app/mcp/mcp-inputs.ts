import * as l10n from '@vscode/l10n'
import type { InputPrompter } from '../../mcp/inputs.ts'
import type { McpInput } from '../../mcp/mcp-settings.ts'
import type { Dialogs } from '../workbench.ts'

/** Returns a prompter that asks for the inputs of MCP servers with an input box or a list. Escape cancels. */
export function inputPrompter(dialogs: Dialogs): InputPrompter {
  return {
    async prompt(input: McpInput, serverName: string): Promise<string | undefined> {
      const title = input.title ?? l10n.t('MCP server "{0}"', serverName)
      const description = input.description ?? l10n.t('Value of "{0}"', input.id)
      if (input.type === 'pickString') {
        const items = input.options.map(option => ({
          label: option.label,
          value: option.value,
          ...(option.value === input.default ? { description: l10n.t('default') } : {}),
        }))
        // The default comes first, because Enter accepts the first item.
        items.sort((a, b) => Number(b.value === input.default) - Number(a.value === input.default))
        const picked = await dialogs.pick(items, {
          title,
          placeholder: description,
          ignoreFocusOut: true,
        })
        return picked?.value
      }
      return dialogs.input({
        title,
        prompt: l10n.t("{0} (stored in VS Code's secret storage)", description),
        password: input.password,
        ignoreFocusOut: true,
        ...(input.default === undefined ? {} : { value: input.default }),
      })
    },
  }
}
