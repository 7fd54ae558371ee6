import assert from 'node:assert/strict'
import { memoryOfTrees, parsePairs, processTree } from '../../../../src/common/processes/process-memory.ts'

describe('the memory of processes', () => {
  it('includes the memory of all descendants', () => {
    const rows = [
      { pid: 4, ppid: 2 },
      { pid: 2, ppid: 1 },
      { pid: 3, ppid: 9 },
      // Windows lists a parent whose id belongs to a descendant by now
      { pid: 1, ppid: 4 },
    ]
    assert.deepEqual(processTree(1, rows).sort(), [1, 2, 4])
  })

  it('is read from lines of ids and kilobytes', () => {
    assert.deepEqual([...parsePairs('  12  2048\r\n13 0\nnothing\n')], [[12, 2048 * 1024]])
  })

  it('is measured on this system, except of processes that are gone', async () => {
    const measured = await memoryOfTrees([process.pid, 2 ** 22 + 1])
    assert.deepEqual([...measured.keys()], [process.pid])
    assert.ok(measured.get(process.pid)! > 10_000_000)
  })
})
