import { homedir } from 'node:os'
import type { AgentCapabilities } from '../acp/model.ts'
import type { SystemPrompt } from '../agents/system-prompt.ts'
import { PathRules } from '../editor/path-rules.ts'
import { planRoots, type RootsPlan, rootsForExisting, rootsForScratch, rootsOf } from '../editor/roots.ts'
import { ensureScratchFolder } from '../editor/scratch-folder.ts'
import {
  activeFilePath,
  pickWorkingDirectory,
  workingDirectorySetting,
  workspaceRoots,
} from '../editor/vscode-workspace.ts'
import type { McpServers } from '../mcp/mcp-servers.ts'
import { planSystemPrompt } from '../sessions/hosts/plan-system-prompt.ts'
import type { SessionPlan, SessionPlanner } from '../sessions/ports.ts'

/** Plans sessions from the workspace that is open and the settings, asking the person where they want to be asked. */
export class WorkspaceSessionPlanner implements SessionPlanner {
  readonly #mcp: McpServers
  readonly #globalStorage: string
  readonly #systemPromptOf: (agentId: string) => SystemPrompt | undefined
  readonly #rules = new PathRules()

  /**
   * `globalStorage`: where the extension may keep files, for the scratch folder. `systemPromptOf`: what the person wants
   * the agent told.
   */
  constructor(
    mcp: McpServers,
    globalStorage: string,
    systemPromptOf: (agentId: string) => SystemPrompt | undefined,
  ) {
    this.#systemPromptOf = systemPromptOf
    this.#mcp = mcp
    this.#globalStorage = globalStorage
  }

  async forNew(agentId: string, capabilities: AgentCapabilities): Promise<SessionPlan | undefined> {
    const roots = await this.#newRoots(capabilities)
    return roots && this.#planned(agentId, roots, capabilities)
  }

  async forExisting(agentId: string, cwd: string, capabilities: AgentCapabilities): Promise<SessionPlan> {
    const roots = rootsForExisting(cwd, {
      folders: workspaceRoots(),
      additionalDirectories: capabilities.additionalDirectories,
      home: homedir(),
      rules: this.#rules,
      scratchFolder: await ensureScratchFolder(this.#globalStorage),
    })
    return this.#planned(agentId, roots, capabilities)
  }

  async #newRoots(capabilities: AgentCapabilities): Promise<RootsPlan | undefined> {
    const input = {
      folders: workspaceRoots(),
      setting: workingDirectorySetting(),
      activePath: activeFilePath(),
      additionalDirectories: capabilities.additionalDirectories,
      home: homedir(),
      rules: this.#rules,
    }
    let decision = planRoots(input)
    if (decision.type === 'pick') {
      const picked = await pickWorkingDirectory(decision.choices)
      if (picked === undefined) return undefined
      decision = planRoots({ ...input, picked })
    }
    if (decision.type === 'planned') return decision.plan
    const unseen = decision.type === 'scratch' ? decision.unseen : []
    return rootsForScratch(await ensureScratchFolder(this.#globalStorage), unseen)
  }

  async #planned(agentId: string, roots: RootsPlan, capabilities: AgentCapabilities): Promise<SessionPlan> {
    const { passed, notes } = await this.#mcp.select(capabilities.mcp, roots.cwd)
    const { given, ...told } = planSystemPrompt(this.#systemPromptOf(agentId), capabilities)
    const setup = { ...rootsOf(roots), mcpServers: passed, ...(given && { systemPrompt: given }) }
    return { setup, roots, mcpServers: notes, ...told }
  }
}
