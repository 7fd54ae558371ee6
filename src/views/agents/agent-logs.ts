import * as vscode from 'vscode'
import { Owner } from '../../common/disposable.ts'

/** A log channel for each agent, made when it first has something to say. */
export class AgentLogs extends Owner {
  readonly #channels = new Map<string, vscode.LogOutputChannel>()

  for(agentId: string, name: string): vscode.LogOutputChannel {
    let channel = this.#channels.get(agentId)
    if (!channel) {
      channel = this.register(vscode.window.createOutputChannel(`Parley: ${name}`, { log: true }))
      this.#channels.set(agentId, channel)
    }
    return channel
  }
}
