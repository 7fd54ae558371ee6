import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import type { TraceFrame, TraceTap } from '../../acp/agent.ts'
import { redact } from '../../acp/redact.ts'
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

/** Longer frames are truncated, so that the output channel stays readable. Characters. */
const SHOWN_FRAME = 100_000

/**
 * Shows all frames between Parley and its agents in an output channel, with secrets redacted. Off by default; while off,
 * frames aren't inspected.
 */
export class ProtocolTraffic extends Owner {
  readonly #taps = new Map<string, { name: string; tap: { current: TraceTap | undefined } }>()
  #channel: vscode.OutputChannel | undefined
  #on = false
  readonly #secrets: SecretRegistry

  constructor(secrets: SecretRegistry) {
    super()
    this.#secrets = secrets
  }

  /** The tap of an agent's connection, which stays the same across restarts. */
  tapFor(agentId: string, name: string): { current: TraceTap | undefined } {
    let entry = this.#taps.get(agentId)
    if (!entry) {
      entry = { name, tap: { current: undefined } }
      this.#taps.set(agentId, entry)
    }
    this.#apply(entry)
    return entry.tap
  }

  /** Shows the channel and starts recording; while recording, offers to stop. */
  async show(): Promise<void> {
    this.#channel ??= this.register(vscode.window.createOutputChannel('Parley: Protocol Traffic', 'jsonl'))
    this.#channel.show(true)
    if (!this.#on) {
      this.#switch(true)
      return
    }
    const stop = l10n.t('Stop Recording')
    const answer = await vscode.window.showInformationMessage(
      l10n.t('Protocol messages are being recorded in this channel.'),
      stop,
    )
    if (answer === stop) this.#switch(false)
  }

  #switch(on: boolean): void {
    this.#on = on
    for (const entry of this.#taps.values()) this.#apply(entry)
    this.#channel?.appendLine(
      on
        ? l10n.t('// Recording protocol messages. Values that look like secrets are redacted.')
        : l10n.t('// Recording stopped.'),
    )
  }

  #apply(entry: { name: string; tap: { current: TraceTap | undefined } }): void {
    entry.tap.current = this.#on ? frame => this.#write(entry.name, frame) : undefined
  }

  #write(name: string, frame: TraceFrame): void {
    if (this.owned.isDisposed) return
    const shownFrame = redact(frame.message, { maxLength: SHOWN_FRAME, secrets: this.#secrets })
    const text = this.#secrets.redactJson(JSON.stringify(shownFrame))
    const shown = text.length > SHOWN_FRAME ? `${text.slice(0, SHOWN_FRAME)}… (${text.length})` : text
    const arrow = frame.direction === 'send' ? '→' : '←'
    this.#channel?.appendLine(`// ${new Date(frame.at).toISOString()} ${arrow} ${name}\n${shown}`)
  }
}
