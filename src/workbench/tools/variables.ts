import * as vscode from 'vscode'
import { isRecord } from '../../common/is-record.ts'
import type { VariableSources } from '../../mcp/server/seen-variables.ts'

/** Returns the sources of variables in tasks or launch configurations, for a folder or the workspace file. */
export function variableSources(section: 'tasks' | 'launch', folder?: vscode.Uri): VariableSources {
  const own = vscode.workspace.getConfiguration(section, folder).inspect<unknown>('inputs')
  const all = [own?.globalValue, own?.workspaceValue, own?.workspaceFolderValue]
  let settings: vscode.WorkspaceConfiguration | undefined
  return {
    inputs: all.flatMap(value => (Array.isArray(value) ? value : [])),
    setting: id => {
      // VS Code copies all settings for this
      settings ??= vscode.workspace.getConfiguration(undefined, folder)
      return settings.get<unknown>(id)
    },
    environment: name => process.env[name],
  }
}

/** The values of variables in launch configurations, for each type: debuggers have their own names for commands. */
export function launchVariables(folder?: vscode.Uri): (type: unknown) => VariableSources {
  const sources = variableSources('launch', folder)
  return type => {
    let commands: Map<string, string> | undefined
    return {
      ...sources,
      command: name => {
        commands ??= commandsOf(type)
        return commands.get(name)
      },
    }
  }
}

/** Returns the commands by the names that debuggers of a type have for them; the first extension takes precedence. */
function commandsOf(type: unknown): Map<string, string> {
  const found = new Map<string, string>()
  for (const { packageJSON } of vscode.extensions.all) {
    const debuggers: unknown = packageJSON?.contributes?.debuggers
    const own = (Array.isArray(debuggers) ? debuggers : []).find(one => isRecord(one) && one.type === type)
    for (const [name, command] of Object.entries(isRecord(own?.variables) ? own.variables : {}))
      if (typeof command === 'string' && !found.has(name)) found.set(name, command)
  }
  return found
}
