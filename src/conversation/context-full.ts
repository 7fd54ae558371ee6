import type { AgentErrorInfo, Command } from '../acp/model.ts'

/** Patterns of errors that agents and model services report when a conversation exceeds the model's context: ACP has no code for this. */
const FULL = [
  // Claude Code, OpenCode
  /\bprompt is too long\b/i,
  /\binput length and `?max_tokens`? exceed context limit\b/i,
  // Codex
  /\bran out of room in the model's context window\b/i,
  // Gemini CLI
  /\btoken count\b.{0,60}\bexceeds the maximum number of tokens\b/is,
  // services like OpenAI's, Qwen, Kimi
  /\bcontext_length_exceeded\b|\bmaximum context length\b|\bexceeded model token limit\b/i,
  /\bexceeds? (?:the |your )?(?:model's |available |maximum )*context (?:window|length|limit|size)\b/i,
]
/** Number of characters of a message that are checked. */
const MAX_READ = 4000
/** Names of agents' commands that make a conversation shorter. */
const COMPACT = ['compact', 'compress', 'summarize']

/** Whether a turn failed because the conversation has become too long for the model. */
export function isContextFull({ message, detail = '' }: AgentErrorInfo): boolean {
  return [message, detail].some(text => FULL.some(full => full.test(text.slice(0, MAX_READ))))
}

/**
 * Whether an agent's answer is only an error about a conversation that is too long. With version 1 of the protocol, Codex answers with the
 * error as text and ends the turn without an error.
 */
export function isContextFullAnswer(text: string): boolean {
  const isError = /^\s*(?:\{\s*"error"|Codex ran out of room in)/.test(text) && text.length < MAX_READ
  return isError && isContextFull({ code: 0, message: text })
}

/** Returns the name of the agent's command that makes a conversation shorter, if the agent has one. */
export function compactCommand(commands: readonly Pick<Command, 'name'>[]): string | undefined {
  return COMPACT.find(name => commands.some(command => command.name === name))
}
