import * as vscode from 'vscode'
import type { ConnectOptions } from '../../acp/agent.ts'
import { type ProtocolChoice, protocolChoices } from '../../agents/definition.ts'
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
    nameOf: (agentId: string) => string
    /** What the agent's own settings say, if anything. */
    protocolOf: (agentId: string) => ProtocolChoice | undefined
  },
): (agentId: string) => Omit<ConnectOptions, 'signal'> {
  const { version } = context.extension.packageJSON as { version: string }
  return agentId => {
    const settings = vscode.workspace.getConfiguration('parley')
    const name = parts.nameOf(agentId)
    const log = parts.logs.for(agentId, name)
    return {
      clientInfo: { name: 'parley', title: 'Parley', version },
      initializeTimeoutMs: within(settings.get('initializeTimeout'), 1, 600, 30) * 1000,
      maxFrameBytes: within(settings.get('maximumFrameSize'), 1, 512, 64) * MiB,
      log,
      onStderr: line => log.info(line),
      tap: parts.traffic.tapFor(agentId, name),
      guard: parts.guard,
      protocol: parts.protocolOf(agentId) ?? protocolOf(settings.get('protocol')),
      features: { terminalAuth: true },
    }
  }
}

function protocolOf(value: unknown): ProtocolChoice {
  return protocolChoices.find(choice => choice === value) ?? 'stable'
}

/** A number setting may hold anything. */
function within(value: unknown, least: number, most: number, otherwise: number): number {
  return typeof value === 'number' && value >= least && value <= most ? value : otherwise
}
