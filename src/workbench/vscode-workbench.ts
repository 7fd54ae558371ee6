import path from 'node:path'
import * as vscode from 'vscode'
import { mayFocus } from '../app/window-uri.ts'
import type { CommentThreads, Editors, PromptContext, Settings, Workbench } from '../app/workbench.ts'
import { loadOnce } from '../common/async.ts'
import { toDisposable } from '../common/disposable.ts'
import type { ChangeEditors } from './changes/change-editors.ts'
import { writeCommitMessage } from './commands/commit-message-command.ts'
import { dialogs } from './dialogs.ts'
import { applyCode, insertCode, openText } from './editor/code.ts'
import type { Diffs, Proposals } from './editor/diffs.ts'
import { openContent, openFile, openLink } from './editor/open.ts'
import { FollowEditor } from './editor/reveal-location.ts'
import { onDidChangeTokenColors, themeTokenColors } from './editor/theme.ts'
import { capture, followActiveContext, takeCode, takeDropped, takePath } from './mentions/attachments.ts'
import type { MentionSearch } from './mentions/search.ts'
import { askOutside, editorSources } from './mentions/sources.ts'
import { pathOnDisk } from './path-on-disk.ts'
import { onDidChangeSetting, openSetting, updateSetting } from './settings.ts'
import type { VsCodeStatusItem } from './status-item.ts'
import { openTab } from './webviews/panels.ts'
import type { VsCodeWindowState } from './window-state.ts'

export interface VsCodeWorkbenchOptions {
  extensionUri: vscode.Uri
  state: VsCodeWindowState
  /** Resolves objects that are created on first use, because they depend on services that depend on the workbench. */
  changeEditors: () => ChangeEditors
  diffs: Diffs
  proposals: Proposals
  comments: CommentThreads
  mentions: MentionSearch
  statusItem: VsCodeStatusItem
  /** the folder of VS Code's default profile, even if another profile is active; in a remote window, the remote machine's */
  userFolder: string
}

/** Creates the interface to VS Code that the rest of Parley uses. */
export function createVsCodeWorkbench(options: VsCodeWorkbenchOptions): Workbench {
  const { state } = options
  return {
    dialogs,
    settings,
    editors: createEditors(options),
    openTab: tab => openTab(options.extensionUri, tab),
    context: createPromptContext(options),
    features: loadOnce(async () =>
      (await import('./tools/editor-features.ts')).createEditorFeatures(options.diffs),
    ),
    comments: options.comments,
    appearance: { tokenColors: themeTokenColors, onDidChangeTokenColors },
    get isTrusted() {
      return state.current.isTrusted
    },
    get language() {
      return state.current.language
    },
    get folders() {
      return state.current.folders
    },
    get roots() {
      return state.current.roots
    },
    get settingValues() {
      return state.current.settingValues
    },
    get settingLayers() {
      return state.current.settingLayers
    },
    get network() {
      return state.current.network
    },
    get hiddenFiles() {
      return state.current.hiddenFiles
    },
    get linkStart() {
      return state.current.linkStart
    },
    onDidChangeState: state.onDidChange,
    async activeFile() {
      const { activeTextEditor, activeNotebookEditor } = vscode.window
      const uri = activeTextEditor?.document.uri ?? activeNotebookEditor?.notebook.uri
      return uri?.scheme === 'file' ? pathOnDisk(uri) : undefined
    },
    execute: async (command, ...args) => vscode.commands.executeCommand(command, ...args),
    showStatusItem: item => options.statusItem.show(item),
    setContext: async (key, value) => vscode.commands.executeCommand('setContext', key, value),
    async focusWindow(uri) {
      if (uri === '' || vscode.env.uiKind === vscode.UIKind.Web) return false
      const wanted = vscode.Uri.parse(uri)
      const { workspaceFile, workspaceFolders } = vscode.workspace
      const saved = workspaceFile?.scheme === 'untitled' ? undefined : workspaceFile
      if (!mayFocus(wanted, saved ?? workspaceFolders?.[0]?.uri)) return false
      // if a window already shows the workspace, VS Code focuses that window
      await vscode.commands.executeCommand('vscode.openFolder', wanted, { forceNewWindow: true })
      return true
    },
    async showFolder(path) {
      const uri = vscode.Uri.file(path)
      const isHere = vscode.env.uiKind === vscode.UIKind.Desktop && vscode.env.remoteName === undefined
      if (isHere) await vscode.commands.executeCommand('revealFileInOS', uri)
      // the file manager of another machine is out of reach
      else await vscode.commands.executeCommand('vscode.openFolder', uri, { forceNewWindow: true })
    },
    async openFolder(path) {
      await vscode.commands.executeCommand('vscode.openFolder', vscode.Uri.file(path), {
        forceNewWindow: true,
      })
    },
    runInTerminal: async (...run) => (await import('./run-in-terminal.ts')).runInTerminal(...run),
    // VS Code passes on a string unchanged, whereas `Uri` would change escaped characters in the URL of a sign-in.
    openExternal: async url => void (await vscode.env.openExternal(url as unknown as vscode.Uri)),
    copy: async text => vscode.env.clipboard.writeText(text),
  }
}

const settings: Settings = {
  update(name, value, scope = 'user') {
    const { Global, Workspace } = vscode.ConfigurationTarget
    return updateSetting(name, value, scope === 'user' ? Global : Workspace)
  },
  onDidChange: onDidChangeSetting,
  open: openSetting,
}

function createEditors({ changeEditors, diffs, proposals }: VsCodeWorkbenchOptions): Editors {
  const followers = new Set<FollowEditor>()
  return {
    openFile,
    openLink,
    openContent,
    openText,
    previewMarkdown: async path =>
      void (await vscode.commands.executeCommand('markdown.showPreview', vscode.Uri.file(path))),
    insertCode,
    applyCode: (code, roots) => applyCode(code, roots, proposals),
    openDiff: async (file, texts, title) =>
      void (await diffs.open(file, texts, title === undefined ? {} : { title })),
    openChanges: (session, file) => changeEditors().open(session, file),
    openConflict: async file =>
      void (await vscode.commands.executeCommand('git.openMergeEditor', vscode.Uri.file(file))),
    reviewChanges: (session, title) => changeEditors().reviewSession(session, title),
    previewRestore: (files, title) => {
      const side = (text: string | undefined) => (text === undefined ? undefined : { text })
      const sides = files.map(({ path, before, after }) => ({
        path,
        before: side(before),
        after: side(after),
      }))
      return diffs.openAll(sides, title)
    },
    compareFiles: (files, title) => diffs.openAll(files, title),
    writeCommitMessage,
    followLocations() {
      const follower = new FollowEditor()
      followers.add(follower)
      return toDisposable(() => {
        followers.delete(follower)
        follower.dispose()
      })
    },
    showLocation(location, roots) {
      for (const follower of followers) follower.show(location, roots)
    },
  }
}

function createPromptContext({
  mentions,
  userFolder,
}: Pick<VsCodeWorkbenchOptions, 'mentions' | 'userFolder'>): PromptContext {
  const promptFiles = loadOnce(() => import('./mentions/prompt-files.ts'))
  const userPrompts = path.join(userFolder, 'prompts')
  return {
    sources: editorSources,
    mentions: query => mentions.find(query),
    revisions: query => mentions.revisions(query),
    promptFiles: async commands => (await promptFiles()).promptFileRows(userPrompts, commands),
    expandPrompt: async (...call) => (await promptFiles()).expandCall(userPrompts, ...call),
    symbols: query => mentions.symbols(query),
    capture,
    askOutside,
    takePath,
    takeCode,
    takeDropped,
    followActive: followActiveContext,
  }
}
