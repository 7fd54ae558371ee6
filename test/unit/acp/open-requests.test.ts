import assert from 'node:assert/strict'
import { OpenRequests } from '../../../src/acp/open-requests.ts'

describe('the open requests of an agent', () => {
  it('are withdrawn by an id, which several may have, and counted until they end', () => {
    const open = new OpenRequests()
    const [one, same, other] = [open.begin(1), open.begin(1), open.begin('1')]
    open.withdraw(1)
    assert.deepEqual(
      [one, same, other].map(({ signal, token }) => signal.aborted && token.isCancellationRequested),
      [true, true, false],
    )
    assert.equal(open.count, 3)
    open.end(one)
    open.end(one)
    assert.equal(open.count, 2)
    open.withdrawAll()
    assert.ok(other.signal.aborted)
    open.end(same)
    assert.equal(open.count, 0)
  })

  it('have a size for as long as it is held', () => {
    const open = new OpenRequests()
    const release = open.hold('x'.repeat(1000))
    assert.ok(open.bytes >= 1000)
    release()
    assert.equal(open.bytes, 0)
  })
})
