import fs from 'node:fs'

export interface Message {
  id?: unknown
  method?: string
  params?: Record<string, unknown> & { sessionId?: string }
  result?: unknown
  error?: { code: number; message: string; data?: unknown }
}

/** A recorded frame: `send` from the client, `recv` from the agent. */
export interface Recorded {
  dir: 'send' | 'recv'
  msg: Message
}

/** One frame per line. */
export function readTranscript(file: string): Recorded[] {
  return fs
    .readFileSync(file, 'utf8')
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line))
}
