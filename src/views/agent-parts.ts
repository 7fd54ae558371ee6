import { homedir } from 'node:os'
import type * as vscode from 'vscode'
import { AgentCatalog } from '../agents/agent-catalog.ts'
import type { ProtocolChoice } from '../agents/definition.ts'
import { demoAgent } from '../agents/demo-agent.ts'
import { LaunchEnvironmentSource } from '../agents/launch-environment.ts'
import {
  lastUsedAgent,
  localFolders,
  VsCodeSettings,
  workspaceTrust,
} from '../agents/vscode-configuration.ts'
import type { Disposable } from '../common/disposable.ts'
import type { Logger } from '../common/logger.ts'
import { McpInputs } from '../mcp/inputs.ts'
import { McpServers } from '../mcp/mcp-servers.ts'
import { vscodeInputPrompter, workspaceIdentity } from '../mcp/vscode-inputs.ts'
import type { AgentDirectory } from '../sessions/ports.ts'
import { SignInValues } from '../sessions/sign-in-values.ts'
import { agentDirectory } from './agent-directory.ts'
import type { AgentLogs } from './agent-logs.ts'
import { askVariable } from './ask-variable.ts'

export interface AgentPartsOptions {
  context: vscode.ExtensionContext
  /** the bundled demo agent's program */
  demoScript: string
  log: Logger
  logs: AgentLogs
  own: { add<T extends Disposable>(item: T): T }
}

export interface AgentParts {
  agents: AgentDirectory
  mcp: McpServers
  inputs: McpInputs
  signInValues: SignInValues
  nameOf: (agentId: string) => string
  /** What the agent's own settings say of the protocol, if anything. */
  protocolOf: (agentId: string) => ProtocolChoice | undefined
  /** What the agents' commands run with: the environment of the last start. */
  commandEnvironment: () => Record<string, string>
}

/** Which agents and MCP servers there are, from the settings and the machine. */
export function agentParts({ context, demoScript, log, logs, own }: AgentPartsOptions): AgentParts {
  const settings = own.add(new VsCodeSettings())
  const environment = own.add(new LaunchEnvironmentSource({ log }))
  const catalog = own.add(
    new AgentCatalog({
      settings,
      environment,
      trust: workspaceTrust,
      lastUsed: lastUsedAgent(context),
      demo: demoAgent(demoScript),
      log,
    }),
  )
  const inputs = new McpInputs(vscodeInputPrompter, context.secrets, workspaceIdentity())
  const signInValues = new SignInValues(
    context.secrets,
    askVariable(agentId => nameOf(agentId)),
  )
  const mcp = own.add(
    new McpServers({ settings, environment, inputs, folders: localFolders, userHome: homedir(), log }),
  )
  const nameOf = (agentId: string) => catalog.get(agentId)?.name ?? agentId
  let commandEnvironment = environment.current().env
  const agents = agentDirectory({
    catalog,
    mcp,
    environment,
    logFor: agentId => logs.for(agentId, nameOf(agentId)),
    signInEnvironment: agentId => signInValues.environment(agentId),
    onEnvironment: env => {
      commandEnvironment = env
    },
  })
  const protocolOf = (agentId: string) => catalog.get(agentId)?.protocol
  return {
    agents,
    mcp,
    inputs,
    signInValues,
    nameOf,
    protocolOf,
    commandEnvironment: () => commandEnvironment,
  }
}
