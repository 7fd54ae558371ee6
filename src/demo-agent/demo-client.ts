import type { AgentContext } from '@agentclientprotocol/sdk'

/** A command of the agent's own, told as it runs. */
export interface OwnTerminal {
  output(data: Uint8Array): void
  end(exit: { exitCode: number | null; signal: string | null }): void
}

/** What a turn needs of its client, in the terms of v1; in v2 an agent shows terminals of its own. */
export interface DemoClient extends Pick<AgentContext, 'notify' | 'request' | 'createTerminal'> {
  showTerminal?(sessionId: string, terminal: { id: string; command: string; cwd: string }): OwnTerminal
}
