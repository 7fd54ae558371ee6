import type * as vscode from 'vscode'
import type { ConnectOptions } from '../../acp/agent.ts'
import { readSetting } from '../../agents/vscode-settings.ts'
import type { SecretRegistry } from '../../common/secrets.ts'
import type { ProtocolChoice } from '../../common/settings.ts'
import type { AgentLogs } from './agent-logs.ts'
import type { ProtocolTraffic } from './protocol-traffic.ts'

const MiB = 1024 * 1024

/** How every agent is connected: what Parley says of itself, the limits of the settings, where things are logged. */
export function connectOptions(
  context: vscode.ExtensionContext,
  parts: {
    logs: AgentLogs
    traffic: ProtocolTraffic
    guard: ConnectOptions['guard']
    secrets: SecretRegistry
    nameOf: (agentId: string) => string
    /** What the agent's own settings say, if anything. */
    protocolOf: (agentId: string) => ProtocolChoice | undefined
  },
): (agentId: string) => Omit<ConnectOptions, 'signal'> {
  const { version } = context.extension.packageJSON as { version: string }
  return agentId => {
    const name = parts.nameOf(agentId)
    const log = parts.logs.logger(agentId, name)
    return {
      clientInfo: { name: 'parley', title: 'Parley', version },
      initializeTimeoutMs: readSetting('initializeTimeout') * 1000,
      maxFrameBytes: readSetting('maximumFrameSize') * MiB,
      log,
      onStderr: line => log.info(line),
      tap: parts.traffic.tapFor(agentId, name),
      guard: parts.guard,
      secrets: parts.secrets,
      protocol: parts.protocolOf(agentId) ?? readSetting('protocol'),
      features: { terminalAuth: true },
    }
  }
}
