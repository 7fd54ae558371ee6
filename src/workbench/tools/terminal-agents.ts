import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import { accountFolders } from '../../agents/agent-settings.ts'
import type { Platform } from '../../app/platform.ts'
import { windowSettings } from '../../app/window-settings.ts'
import { settingOf } from '../../app/workbench.ts'
import { DisposableStore } from '../../common/disposable.ts'
import { Emitter, type Event } from '../../common/event.ts'
import { RealFolders } from '../../editor/folder-comparison.ts'
import { PathGuard } from '../../editor/path-guard.ts'
import { Roots } from '../../mcp/server/roots.ts'
import { ToolError } from '../../mcp/server/tool-error.ts'
import { type TerminalAgent, TerminalAgents } from '../../mcp/terminal/terminal-agents.ts'
import type { TerminalEditor } from '../../mcp/terminal/terminal-editor.ts'
import { EditableDiffs } from '../changes/editable-diffs.ts'
import { localFolders } from '../settings.ts'

const NAMES: Readonly<Record<TerminalAgent, string>> = { claude: 'Claude Code', gemini: 'Gemini CLI' }
/** The vendors' own extensions for VS Code; two extensions that serve the same terminal would conflict. */
const VENDORS: Readonly<Record<TerminalAgent, string>> = {
  claude: 'anthropic.claude-code',
  gemini: 'google.gemini-cli-vscode-ide-companion',
}

/** Lets Claude Code and Gemini CLI in terminals use the editor while the settings say so. Loaded when they first do. */
export async function createTerminalAgents(
  {
    environmentVariableCollection: environment,
  }: Pick<vscode.ExtensionContext, 'environmentVariableCollection'>,
  { workbench, version, secrets, log }: Pick<Platform, 'log' | 'secrets' | 'version' | 'workbench'>,
  own: DisposableStore,
): Promise<void> {
  const editor = await createTerminalEditor(workbench, own)
  environment.persistent = false
  environment.description = l10n.t('Lets Claude Code and Gemini CLI use the editor.')
  const settings = windowSettings(workbench)
  const accounts = {
    folders: () => accountFolders(settings, 'claude'),
    onDidChange: settings.onDidChange,
  }
  const options = { editor, version, secrets, log, accounts }
  const agents = new TerminalAgents({
    isOn: agent =>
      workbench.isTrusted &&
      settingOf(workbench, `terminalAgents.${agent}`) &&
      vscode.extensions.getExtension(VENDORS[agent]) === undefined,
    onDidChange: listener => {
      const listening = new DisposableStore()
      for (const event of [settings.onDidChange, editor.onDidChangeFolders, vscode.extensions.onDidChange])
        listening.add((event as Event<void>)(() => listener()))
      return listening
    },
    start: {
      claude: async () => (await import('../../mcp/local-servers.ts')).startClaudeIde(options),
      gemini: async () => (await import('../../mcp/local-servers.ts')).startGeminiIde(options),
    },
    setVariables(variables) {
      environment.clear()
      for (const [name, value] of Object.entries(variables)) environment.replace(name, value)
    },
    failed(agent, message) {
      const text = l10n.t("{0} in terminals can't use the editor: {1}", NAMES[agent], message)
      log.error(text)
      void workbench.dialogs.error(text)
    },
  })
  own.add(agents)
  await agents.update()
}

async function createTerminalEditor(
  workbench: Platform['workbench'],
  own: DisposableStore,
): Promise<TerminalEditor> {
  const features = await workbench.features()
  const diffs = own.add(new EditableDiffs())
  const known = own.add(new RealFolders())
  const changeFolders = own.add(new Emitter<void>())
  const folderPaths = () => localFolders().map(({ path }) => path)
  own.add(known.onDidChange(() => changeFolders.fire()))
  own.add(
    vscode.workspace.onDidChangeWorkspaceFolders(() => {
      void known.refresh(folderPaths())
      changeFolders.fire()
    }),
  )
  void known.refresh(folderPaths())
  const roots = () => {
    const [first, ...others] = localFolders()
    if (!first) return undefined
    return new Roots(
      new PathGuard({ cwd: first.path, additionalDirectories: others.map(({ path }) => path) }),
    )
  }
  return {
    ...features,
    folders: localFolders,
    paths: () => known.paths(folderPaths()),
    onDidChangeFolders: changeFolders.event,
    onDidChangeSelection(listener) {
      const { window } = vscode
      return vscode.Disposable.from(
        window.onDidChangeTextEditorSelection(() => listener()),
        window.onDidChangeActiveTextEditor(() => listener()),
        window.tabGroups.onDidChangeTabs(() => listener()),
      )
    },
    file(path) {
      const own = roots()
      if (!own) throw new ToolError('No folder is open.')
      return own.file(path)
    },
    has: async path => (await roots()?.has(path)) === true,
    within: async items => (await roots()?.within(items, ({ path }) => path)) ?? [],
    document(path) {
      const address = vscode.Uri.file(path).toString()
      return vscode.workspace.textDocuments.find(({ uri }) => uri.toString() === address)
    },
    openDiff: file => diffs.open(file),
  }
}
