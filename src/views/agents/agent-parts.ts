import { homedir } from 'node:os'
import * as vscode from 'vscode'
import { AgentCatalog } from '../../agents/agent-catalog.ts'
import type { ProtocolChoice } from '../../agents/definition.ts'
import { demoAgent } from '../../agents/demo-agent.ts'
import { LaunchEnvironmentSource } from '../../agents/launch-environment.ts'
import { launchFingerprint } from '../../agents/launch-fingerprint.ts'
import { chooseSystemPrompt, type SystemPrompt } from '../../agents/system-prompt.ts'
import {
  lastUsedAgent,
  localFolders,
  VsCodeSettings,
  workspaceTrust,
} from '../../agents/vscode-configuration.ts'
import type { Disposable } from '../../common/disposable.ts'
import type { Logger } from '../../common/logger.ts'
import { McpInputs } from '../../mcp/inputs.ts'
import { McpServers } from '../../mcp/mcp-servers.ts'
import { vscodeInputPrompter, workspaceIdentity } from '../../mcp/vscode-inputs.ts'
import { ProviderConfigs } from '../../sessions/hosts/provider-configs.ts'
import type { RuleConsent } from '../../sessions/permission-rules/consent.ts'
import { PermissionRules } from '../../sessions/permission-rules/permission-rules.ts'
import type { AgentDirectory } from '../../sessions/ports.ts'
import { SignInValues } from '../../sessions/sign-in/sign-in-values.ts'
import { ruleConsent } from '../rule-consent.ts'
import { keepIn } from '../storage/kept-state.ts'
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
  rules: PermissionRules
  ruleConsent: RuleConsent
  inputs: McpInputs
  signInValues: SignInValues
  providers: ProviderConfigs
  nameOf: (agentId: string) => string
  /** What the agent's own settings say of the protocol, if anything. */
  protocolOf: (agentId: string) => ProtocolChoice | undefined
  /** What the person wants the agent told beyond its own instructions. */
  systemPromptOf: (agentId: string) => SystemPrompt | undefined
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
  const launchOf = (agentId: string) => {
    const definition = catalog.get(agentId)
    return definition && launchFingerprint(definition)
  }
  const providers = new ProviderConfigs(context.secrets, launchOf)
  const signInValues = new SignInValues(
    context.secrets,
    launchOf,
    askVariable(agentId => nameOf(agentId)),
  )
  const mcp = own.add(
    new McpServers({ settings, environment, inputs, folders: localFolders, userHome: homedir(), log }),
  )
  const consent = ruleConsent(keepIn(context.workspaceState))
  const rules = own.add(
    new PermissionRules({ settings, trusted: () => workspaceTrust.trusted, log, consent }),
  )
  const nameOf = (agentId: string) => catalog.get(agentId)?.name ?? agentId
  let commandEnvironment = environment.current().env
  const agents = agentDirectory({
    catalog,
    mcp,
    rules,
    environment,
    logFor: agentId => logs.for(agentId, nameOf(agentId)),
    signInEnvironment: agentId => signInValues.environment(agentId),
    onEnvironment: env => {
      commandEnvironment = env
    },
  })
  const protocolOf = (agentId: string) => catalog.get(agentId)?.protocol
  const systemPromptOf = (agentId: string) =>
    chooseSystemPrompt(
      catalog.get(agentId)?.systemPrompt,
      vscode.workspace.getConfiguration('parley').get('systemPrompt'),
    )
  return {
    agents,
    mcp,
    rules,
    ruleConsent: consent,
    inputs,
    signInValues,
    providers,
    nameOf,
    protocolOf,
    systemPromptOf,
    commandEnvironment: () => commandEnvironment,
  }
}
