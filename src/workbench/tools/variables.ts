import * as vscode from 'vscode'
import { isRecord } from '../../common/is-record.ts'
import type { VariableSources } from '../../mcp/server/seen-variables.ts'

/** What VS Code replaces variables of tasks or launch configurations with, in a folder or the workspace file. */
export function variableSources(section: 'tasks' | 'launch', folder?: vscode.Uri): VariableSources {
  const own = vscode.workspace.getConfiguration(section, folder).inspect<unknown>('inputs')
  const all = [own?.globalValue, own?.workspaceValue, own?.workspaceFolderValue]
  return {
    inputs: all.flatMap(value => (Array.isArray(value) ? value : [])),
    setting: id => vscode.workspace.getConfiguration(undefined, folder).get<unknown>(id),
    environment: name => process.env[name],
  }
}

/** The same for the launch configurations of each type: debuggers have their own names for commands. */
export function launchVariables(folder?: vscode.Uri): (type: unknown) => VariableSources {
  const sources = variableSources('launch', folder)
  return type => ({ ...sources, command: name => commandOf(type, name) })
}

function commandOf(type: unknown, name: string): string | undefined {
  for (const { packageJSON } of vscode.extensions.all) {
    const debuggers: unknown = packageJSON?.contributes?.debuggers
    const found = (Array.isArray(debuggers) ? debuggers : []).find(one => isRecord(one) && one.type === type)
    const command = isRecord(found?.variables) ? found.variables[name] : undefined
    if (typeof command === 'string') return command
  }
  return undefined
}
