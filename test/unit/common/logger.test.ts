import assert from 'node:assert/strict'
import { type Logger, untilClosed } from '../../../src/common/logger.ts'

describe('a log', () => {
  it('is no longer written to when it is closed, which VS Code would report as an error', () => {
    let isClosed = false
    const lines: string[] = []
    const write = (line: string) => {
      if (isClosed) throw new Error('Channel has been closed')
      lines.push(line)
    }
    const channel: Logger = { trace: write, debug: write, info: write, warn: write, error: write }
    const log = untilClosed(channel, () => isClosed)
    for (const level of ['trace', 'debug', 'info', 'warn', 'error'] as const) log[level](level)
    isClosed = true
    for (const level of ['trace', 'debug', 'info', 'warn', 'error'] as const) log[level](level)
    assert.deepEqual(lines, ['trace', 'debug', 'info', 'warn', 'error'])
  })
})
