import type { SessionState } from '../conversation/state.ts'

const LONGEST = 120

/** What to call a session: the agent's title, else the first line of the first prompt, else nothing yet. */
export function sessionTitle(state: SessionState): string | undefined {
  const told = state.title?.trim()
  if (told) return told
  for (const entry of state.entries) {
    if (entry.kind !== 'message' || entry.role !== 'user') continue
    for (const block of entry.blocks) {
      const line = block.type === 'text' ? firstLine(block.text) : undefined
      if (line) return line
    }
  }
  return undefined
}

function firstLine(text: string): string | undefined {
  const line = text
    .split('\n')
    .map(part => part.trim())
    .find(part => part !== '')
  if (!line) return undefined
  const letters = Array.from(line)
  return letters.length > LONGEST ? `${letters.slice(0, LONGEST).join('')}…` : line
}
