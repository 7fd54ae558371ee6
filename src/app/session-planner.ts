import { homedir } from 'node:os'
import * as l10n from '@vscode/l10n'
import type { AgentCapabilities, SessionSetup } from '../acp/model.ts'
import { planSystemPrompt, type SystemPrompt } from '../agents/definition.ts'
import { CancelledError } from '../common/errors.ts'
import type { RootsPlan } from '../common/roots-plan.ts'
import { sessionKey } from '../common/session-key.ts'
import { visible } from '../common/visible.ts'
import { compareFolders, realFolder } from '../editor/folder-comparison.ts'
import { PathRules } from '../editor/path-rules.ts'
import {
  ensureScratchFolder,
  planRoots,
  rootsForExisting,
  rootsForScratch,
  rootsIn,
  rootsOf,
  type WorkspaceRoot,
} from '../editor/roots.ts'
import { worktreeRoot } from '../editor/worktrees/linked-worktrees.ts'
import type { McpServers, McpSession } from '../mcp/mcp-servers.ts'
import type { EditorTools, OfferedTools } from '../mcp/server/editor-tools.ts'
import type { McpServerNote } from '../mcp/server-note.ts'
import type { EarlierServers, ExistingSession, SessionPlan, SessionPlanner } from '../sessions/ports.ts'
import { type Dialogs, settingOf, type Workbench } from './workbench.ts'

/** Plans sessions from the open workspace and the settings. Asks the user for the folder if necessary. */
export class WorkspaceSessionPlanner implements SessionPlanner {
  readonly #mcp: McpServers
  readonly #workbench: Workbench
  readonly #globalStorage: string
  readonly #systemPromptOf: (agentId: string, can: AgentCapabilities) => Promise<SystemPrompt | undefined>
  readonly #editorTools: Pick<EditorTools, 'offer' | 'resume' | 'ended'>
  readonly #rules = new PathRules()

  /**
   * `globalStorage` is the extension's storage directory, which contains the scratch folder. `systemPromptOf` returns the system prompt for
   * an agent, and may ask the user about it. `editorTools` is the editor's own MCP server.
   */
  constructor(
    workbench: Workbench,
    mcp: McpServers,
    globalStorage: string,
    systemPromptOf: (agentId: string, can: AgentCapabilities) => Promise<SystemPrompt | undefined>,
    editorTools: Pick<EditorTools, 'offer' | 'resume' | 'ended'>,
  ) {
    this.#editorTools = editorTools
    this.#systemPromptOf = systemPromptOf
    this.#workbench = workbench
    this.#mcp = mcp
    this.#globalStorage = globalStorage
  }

  async forNew(
    agentId: string,
    capabilities: AgentCapabilities,
    cwd?: string,
    imported = false,
  ): Promise<SessionPlan | undefined> {
    if (cwd !== undefined && imported) await this.#confirmFolder(cwd)
    const roots =
      cwd === undefined
        ? await this.#newRoots(capabilities)
        : rootsIn(cwd, await this.#existingInput(capabilities, { cwd }))
    if (!roots) return undefined
    const systemPrompt = await this.#systemPromptOf(agentId, capabilities)
    return this.#planned({ agentId }, roots, capabilities, systemPrompt ?? null)
  }

  async forExisting(session: ExistingSession, capabilities: AgentCapabilities): Promise<SessionPlan> {
    if (session.imported) await this.#confirmFolder(session.cwd)
    const roots = rootsForExisting(session, await this.#existingInput(capabilities, session))
    const { agentId, sessionId } = session
    return this.#planned(
      { agentId, session: sessionKey(agentId, sessionId) },
      roots,
      capabilities,
      session.systemPrompt,
    )
  }

  /** Asks the user about the folder of an imported session, because whoever wrote its file must not choose what an agent may access. */
  async #confirmFolder(cwd: string): Promise<void> {
    // compares real paths, because a link in this window's folders may lead out of them
    const folder = await realFolder(cwd)
    const own = await Promise.all(this.#workbench.folders.map(({ path }) => realFolder(path)))
    if (own.some(one => this.#rules.contains(one, folder))) return
    const text = l10n.t('Open the imported session in a folder outside of this window?')
    const detail = l10n.t(
      'The agent could access this folder, which the imported file names:\n{0}',
      visible(folder),
    )
    const open = l10n.t('Open Session')
    if ((await this.#workbench.dialogs.confirm(text, { detail }, open)) !== open) throw new CancelledError()
  }

  async forReattached(
    session: ExistingSession,
    capabilities: AgentCapabilities,
    { server, mcpServers = [] }: EarlierServers = {},
  ): Promise<SessionPlan> {
    const roots = rootsForExisting(session, await this.#existingInput(capabilities, session))
    const others = mcpServers.filter(({ isEditor }) => !isEditor)
    const plan: SessionPlan = planOf(roots, [], others, session.systemPrompt, capabilities)
    const lose = () => {
      const note = this.#editorTools.ended(capabilities.mcp)
      delete plan.editorTools
      plan.mcpServers = note ? [...others, note] : others
      if (note) plan.lostEditorTools = true
    }
    if (server) {
      const key = sessionKey(session.agentId, session.sessionId)
      const { agentId } = session
      const can = { ...capabilities.mcp, hiddenTools: capabilities.hiddenTools, agentId }
      const { tools, note } = this.#editorTools.resume(server, rootsOf(roots), can, key, lose)
      plan.editorTools = tools
      plan.mcpServers = [...others, note]
    } else lose()
    return plan
  }

  async #existingInput(
    capabilities: AgentCapabilities,
    { cwd, additionalDirectories = [] }: { cwd: string; additionalDirectories?: readonly string[] },
  ) {
    const folders = this.#workbench.roots
    const scratchFolder = await ensureScratchFolder(this.#globalStorage)
    const compare = await this.#compare([cwd, ...additionalDirectories, scratchFolder])
    // a worktree is separate from the workspace, so its sessions don't get the workspace's other folders
    const isOpen = folders.some(folder => compare.contains(folder.path, cwd))
    const worktree = isOpen ? undefined : await worktreeRoot(compare.real(cwd)).catch(() => undefined)
    return {
      folders: worktree ? [] : folders,
      ...(worktree && { worktree: worktree.root }),
      additionalDirectories: capabilities.additionalDirectories,
      home: homedir(),
      rules: this.#rules,
      ...{ compare, scratchFolder },
    }
  }

  /** Returns a comparison of this window's folders with other folders. */
  async #compare(others: readonly string[]) {
    return compareFolders([...this.#workbench.roots.map(({ path }) => path), ...others])
  }

  async #newRoots(capabilities: AgentCapabilities): Promise<RootsPlan | undefined> {
    const activePath = await this.#workbench.activeFile()
    const input = {
      folders: this.#workbench.roots,
      setting: settingOf(this.#workbench, 'workingDirectory'),
      activePath,
      additionalDirectories: capabilities.additionalDirectories,
      home: homedir(),
      rules: this.#rules,
      compare: await this.#compare(activePath === undefined ? [] : [activePath]),
    }
    let decision = planRoots(input)
    if (decision.type === 'pick') {
      const picked = await pickWorkingDirectory(this.#workbench.dialogs, decision.choices)
      if (picked === undefined) return undefined
      decision = planRoots({ ...input, picked })
    }
    if (decision.type === 'planned') return decision.plan
    const unseen = decision.type === 'scratch' ? decision.unseen : []
    return rootsForScratch(await ensureScratchFolder(this.#globalStorage), unseen)
  }

  async #planned(
    session: Omit<McpSession, 'cwd'>,
    roots: RootsPlan,
    capabilities: AgentCapabilities,
    systemPrompt: SystemPrompt | null | undefined,
  ): Promise<SessionPlan> {
    const compare = await this.#compare([roots.cwd])
    const own = this.#workbench.roots.find(({ path }) => compare.same(path, roots.cwd))
    const cwd = own?.path ?? roots.cwd
    const { passed, notes, links } = await this.#mcp.select(capabilities.mcp, { ...session, cwd })
    const taken = notes.map(({ name }) => name)
    const { agentId } = session
    const can = { ...capabilities.mcp, hiddenTools: capabilities.hiddenTools, agentId }
    // the paths in the tools' results would be those of this machine
    const { tools, note }: OfferedTools = capabilities.pathMappings
      ? {}
      : await this.#editorTools.offer(rootsOf(roots), can, taken, session.session)
    const servers = tools ? [...passed, tools.server] : passed
    const plan = planOf(roots, servers, note ? [...notes, note] : notes, systemPrompt, capabilities)
    return { ...plan, ...(tools && { editorTools: tools }), bridges: links }
  }
}

function planOf(
  roots: RootsPlan,
  servers: SessionSetup['mcpServers'],
  notes: McpServerNote[],
  systemPrompt: SystemPrompt | null | undefined,
  capabilities: AgentCapabilities,
): SessionPlan {
  const { given, ...reported } = planSystemPrompt(systemPrompt ?? undefined, capabilities)
  const setup = { ...rootsOf(roots), mcpServers: servers, ...(given && { systemPrompt: given }) }
  const own = systemPrompt === undefined ? {} : { ownSystemPrompt: given ? systemPrompt : null }
  return { setup, roots, mcpServers: notes, ...own, ...reported }
}

/** Lets the user choose the folder of a session. Resolves to `undefined` if the user cancels. */
async function pickWorkingDirectory(
  dialogs: Dialogs,
  choices: readonly WorkspaceRoot[],
): Promise<string | undefined> {
  const items = choices.map(folder => ({ label: folder.name, description: folder.path, folder }))
  const picked = await dialogs.pick(items, {
    title: l10n.t('Working directory'),
    placeholder: l10n.t('Select the working directory for the session'),
    matchOnDescription: true,
  })
  return picked?.folder.path
}
