import * as vscode from 'vscode'
import { Owner } from '../../common/disposable.ts'
import type { Logger } from '../../common/logger.ts'

/** A log channel for each agent, created with its first message. */
export class AgentLogs extends Owner {
  readonly #channels = new Map<string, vscode.LogOutputChannel>()

  write(agentId: string, name: string, level: keyof Logger, message: string): void {
    // agents that are still ending when the window closes would write to a closed channel
    if (!this.owned.isDisposed) this.for(agentId, name)[level](message)
  }

  for(agentId: string, name: string): vscode.LogOutputChannel {
    let channel = this.#channels.get(agentId)
    if (!channel) {
      channel = this.register(vscode.window.createOutputChannel(`Parley: ${name}`, { log: true }))
      this.#channels.set(agentId, channel)
    }
    return channel
  }
}
