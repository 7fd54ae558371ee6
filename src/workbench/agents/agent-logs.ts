import * as vscode from 'vscode'
import { redactText } from '../../acp/redact-text.ts'
import { Owner } from '../../common/disposable.ts'
import { type Logger, redactingLogger, untilClosed } from '../../common/logger.ts'
import type { SecretRegistry } from '../../common/secrets.ts'

/** A log channel for each agent, created with its first message. */
export class AgentLogs extends Owner {
  readonly #channels = new Map<string, vscode.LogOutputChannel>()
  readonly #secrets: SecretRegistry

  constructor(secrets: SecretRegistry) {
    super()
    this.#secrets = secrets
  }

  /** Writes to the agent's channel, with secrets redacted. */
  logger(agentId: string, name: string): Logger {
    const log = redactingLogger(this.for(agentId, name), text => redactText(this.#secrets.redact(text)))
    return untilClosed(log, () => this.owned.isDisposed)
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
