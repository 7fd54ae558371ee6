import assert from 'node:assert/strict'
import { limitLog } from '../../../src/acp/agent-link.ts'

describe('limitLog', () => {
  it('passes on a limited number of messages, then logs once that more were dropped', () => {
    const log: string[] = []
    const write = limitLog(message => log.push(message), 2)
    for (const message of ['a', 'b', 'c', 'd', 'e']) write(message)
    assert.deepEqual(log, ['a', 'b', "c (further messages of this kind aren't logged)"])
  })
})
