import path from 'node:path'
import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import type { EditorServices } from '../app/editor-services.ts'
import type { Platform } from '../app/platform.ts'
import type { DisposableStore } from '../common/disposable.ts'
import { redactingLogger, untilClosed } from '../common/logger.ts'
import { SecretRegistry } from '../common/secrets.ts'
import { AgentLogs } from './agents/agent-logs.ts'
import { SelectedPython } from './agents/selected-python.ts'
import { signInTerminal } from './agents/sign-in-terminal.ts'
import type { ChangeEditors } from './changes/change-editors.ts'
import { VsCodeComments } from './comments/comment-threads.ts'
import { Diffs, Proposals } from './editor/diffs.ts'
import { onDidSaveFile, trashFile, VsCodeDocuments, vscodeEncodings, watchFiles } from './editor/files.ts'
import { MentionSearch } from './mentions/search.ts'
import { storePickedIn } from './mentions/sources.ts'
import { NativePrompts } from './native-elicitation.ts'
import { pathOnDisk } from './path-on-disk.ts'
import { ruleSettings } from './rule-settings.ts'
import { VsCodeStatusItem } from './status-item.ts'
import { createVsCodeWorkbench } from './vscode-workbench.ts'
import { VsCodeWindowState } from './window-state.ts'
import { windowStorage } from './window-storage.ts'

export interface PlatformOptions {
  context: vscode.ExtensionContext
  log: vscode.LogOutputChannel
  /** Owns everything that is created here. */
  own: DisposableStore
  commentController: vscode.CommentController
  /** Returns the platform as the services call it; by default, the platform itself. */
  carry?: (platform: Platform) => Platform
  /** Returns the services as VS Code's part calls them; by default, the services themselves. */
  carryBack?: (services: EditorServices) => EditorServices
}

/** Makes `@vscode/l10n` look up texts in VS Code's bundle for the user's language. */
export function configureTexts(): void {
  if (vscode.l10n.bundle) l10n.config({ contents: vscode.l10n.bundle })
}

/** Creates the parts of VS Code that the services need. `changeEditors` is called later, since it needs the services. */
export function createPlatform(
  { context, log: channel, own, commentController }: PlatformOptions,
  changeEditors: () => ChangeEditors,
): Platform & { proposals: Proposals; comments: VsCodeComments } {
  const secrets = new SecretRegistry()
  const redacted = redactingLogger(channel, text => secrets.redact(text))
  const log = untilClosed(redacted, () => own.isDisposed)
  const logs = own.add(new AgentLogs())
  const storage = windowStorage(context)
  storePickedIn(storage.workspace)
  const proposals = own.add(new Proposals())
  const comments = own.add(new VsCodeComments(commentController))
  const { extensionUri } = context
  // the first listener of the settings, since the others read the state
  const state = own.add(new VsCodeWindowState(context.extension.id))
  return {
    workbench: createVsCodeWorkbench({
      changeEditors,
      diffs: own.add(new Diffs()),
      proposals,
      comments,
      mentions: own.add(new MentionSearch(storage.workspace)),
      statusItem: own.add(new VsCodeStatusItem()),
      userFolder: userFolder(context),
      extensionUri,
      state,
    }),
    proposals,
    comments,
    storage,
    ...manifestOf(context),
    editor: `${vscode.env.appName} ${vscode.version} (${[vscode.env.appHost, vscode.env.remoteName].filter(Boolean).join(', ')})`,
    fileInExtension: (...names) => pathOnDisk(vscode.Uri.joinPath(extensionUri, ...names)),
    log,
    logs: {
      write: (...line) => logs.write(...line),
      show: (agentId, name) => logs.for(agentId, name).show(true),
      showOwn: () => channel.show(true),
    },
    secrets,
    secretStore: context.secrets,
    ruleSettings,
    selectedPython: own.add(new SelectedPython()),
    externalUrl: async url => (await vscode.env.asExternalUri(vscode.Uri.parse(url, true))).toString(true),
    workspaceIdentity: workspaceIdentity(),
    settingsFolders: settingsFolders(context),
    mcpLocations: mcpLocations(context),
    documents: new VsCodeDocuments(),
    encodings: vscodeEncodings,
    followFiles: watchFiles,
    onDidSaveFile,
    trash: trashFile,
    nativeElicitation: new NativePrompts(),
    signInTerminal,
  }
}

/** Returns the URI of the workspace's file or first folder, which identifies the workspace; empty if there is none. */
function workspaceIdentity(): string {
  const { workspaceFile, workspaceFolders } = vscode.workspace
  return (workspaceFile ?? workspaceFolders?.[0]?.uri)?.toString() ?? ''
}

/** Returns the folder of VS Code's default profile; in a remote window, the remote machine's. */
function userFolder({ globalStorageUri }: vscode.ExtensionContext): string {
  // …/User/globalStorage/<extension> in every profile: VS Code doesn't tell the profile
  return path.dirname(path.dirname(pathOnDisk(globalStorageUri)))
}

/** Returns the folders of the editor's settings: the user's, and the machine's, which exists on remote machines. */
function settingsFolders(context: vscode.ExtensionContext): string[] {
  const user = userFolder(context)
  return [user, path.join(path.dirname(user), 'Machine')]
}

function mcpLocations(context: vscode.ExtensionContext): Platform['mcpLocations'] {
  const { workspaceFile } = vscode.workspace
  return {
    workspaceFile: workspaceFile?.scheme === 'file' ? pathOnDisk(workspaceFile) : undefined,
    userFolder: userFolder(context),
    workspaceIdentity: workspaceIdentity(),
  }
}

function manifestOf({ extension }: vscode.ExtensionContext): Pick<Platform, 'version' | 'issues'> {
  const { version, bugs } = extension.packageJSON as { version: string; bugs?: string | { url?: string } }
  return { version, issues: typeof bugs === 'string' ? bugs : bugs?.url }
}
