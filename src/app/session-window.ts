import { accountFolders } from '../agents/agent-settings.ts'
import { deferred } from '../common/async.ts'
import type { DisposableStore } from '../common/disposable.ts'
import { LAST_SESSION } from '../common/session-key.ts'
import { storeGitFoldersIn } from '../editor/git-folders.ts'
import { PathGuard } from '../editor/path-guard.ts'
import { PathRules } from '../editor/path-rules.ts'
import { ProtectedFiles } from '../editor/protected-files.ts'
import { allowedTools, EditorTools } from '../mcp/server/editor-tools.ts'
import type { SessionReference } from '../sessions/open-session.ts'
import {
  agentLogger,
  connectOptions,
  createAgentServices,
  noticeOfOtherHost,
  noticeOfUnsaved,
  noticeWithoutHost,
} from './agents/agent-services.ts'
import { limitSettings } from './commands/limit-command.ts'
import { composerServices } from './conversation/conversation-services.ts'
import type { ConversationSurfaces } from './conversation/conversation-surface.ts'
import { ContextKey } from './ids.ts'
import type { Platform } from './platform.ts'
import type { ProcessScope } from './process-scope.ts'
import { WorkspaceSessionPlanner } from './session-planner.ts'
import { createChangeServices, protectStores } from './storage/storage-services.ts'
import { gitFolderStore, HAS_AGENTS, turnStore, viewStore } from './storage/stores.ts'
import { windowSettings, windowTrust } from './window-settings.ts'
import { settingOf } from './workbench.ts'

export type SessionWindow = ReturnType<typeof createSessionWindow>

/**
 * Creates what sessions need from a window: its folders, settings and trust, its agents and their rules, the editor's files, and the user's
 * answers. Sessions use the window only through the result.
 */
export function createSessionWindow(
  platform: Platform,
  surfaces: Pick<ConversationSurfaces, 'sessionOf'>,
  process: ProcessScope,
  own: DisposableStore,
) {
  const { workbench, storage, log, secrets } = platform
  const { conversations, processRow } = process
  const windowRow = own.add(processRow.another(() => workbench.setContext(ContextKey.windowIsOpen, true)))
  protectStores(platform, own)
  const settings = windowSettings(workbench)
  const trust = windowTrust(workbench)
  const protectedFiles = new ProtectedFiles(new PathRules(), platform.settingsFolders, () =>
    accountFolders(settings),
  )
  const agentServices = createAgentServices({ platform, process, settings, trust, protectedFiles, own })
  const composer = composerServices(storage, conversations.database, windowRow, own)
  /** resolves when this window has taken over the running turns of an earlier window */
  const agentsBack = deferred()
  const changes = createChangeServices(platform, protectedFiles, own, agentsBack.promise, process)
  storeGitFoldersIn(gitFolderStore(storage, log))
  const views = viewStore(storage, log)
  const editorTools = own.add(
    new EditorTools({
      features: workbench.features,
      names: () => allowedTools(settings.layers('editorTools')),
      switches: agentServices.mcpSwitches,
      onDidChangeNames: listener => workbench.settings.onDidChange('editorTools', listener),
      guard: roots => new PathGuard(roots),
      bridge: server => process.bridges.bridge(server),
      version: platform.version,
      secrets,
      log,
    }),
  )
  return {
    ...agentServices,
    ...composer,
    settings,
    ...changes,
    ...{ agentsBack, editorTools, views, windowRow },
    workspace: platform.workspaceIdentity,
    /** Reads the content to which prompts refer. */
    sources: workbench.context.sources,
    onDidSave: platform.onDidSaveFile,
    turns: turnStore(storage, log),
    limits: limitSettings(settings, workbench),
    planner: new WorkspaceSessionPlanner(
      workbench,
      agentServices.mcp,
      storage.globalFolder,
      agentServices.systemPromptOf,
      editorTools,
    ),
    trusted: () => workbench.isTrusted,
    onDidChangeTrust: trust.onDidChange,
    /** Returns how long agents of this window continue to run without the window. */
    keepAgents: () => settingOf(workbench, 'keepAgentsRunning'),
    agentLog: (agentId: string) => agentLogger(platform, agentId, agentServices.nameOf(agentId)),
    connectOptions: (startProcess: Parameters<typeof connectOptions>[3]) =>
      connectOptions(platform, process, agentServices, startProcess),
    /** Resolves to the options with which a new session starts. */
    startOptions: async (agentId: string) => ({
      defaults: await agentServices.defaultOptionsOf(agentId),
      lastUsed: settingOf(workbench, 'useLastOptions') ? composer.optionMemory.lastUsed(agentId) : {},
    }),
    /** Returns the agent's session on which the user works. */
    activeSession: (agentId: string) => surfaces.sessionOf(agentId),
    nativeElicitation: platform.nativeElicitation,
    onUnavailable: noticeWithoutHost(workbench),
    onTooMuchUnsaved: noticeOfUnsaved(workbench),
    onUnreachable: () => void noticeOfOtherHost(workbench),
    /** Returns the agent of the session that the side bar showed last. */
    lastAgentId: () => storage.workspace.get<SessionReference>(LAST_SESSION)?.agentId,
    /** Stores whether agents may continue without the window. If so, the next window connects to them when it starts. */
    markAgents: (mayRun: boolean) => views.set(HAS_AGENTS, mayRun || undefined),
  }
}
