import assert from 'node:assert/strict'
import { listProcesses, parsePs, parseStat } from '../../../../src/acp/transport/process-list.ts'

describe('the list of processes', () => {
  it('has this process and its parent', async function () {
    if (process.platform === 'win32') this.skip()
    const rows = await listProcesses()
    const own = rows?.find(row => row.pid === process.pid)
    assert.equal(own?.ppid, process.ppid)
    assert.equal(own?.zombie, false)
    assert.ok(rows?.some(row => row.pid === process.ppid))
  })

  it('is read from /proc, whatever a process calls itself', () => {
    const rest = '1 7 7 34816 42 4194304 100 0 0 0 1 2 0 0 20 0 1 0 98765 1000 200 0'
    assert.deepEqual(parseStat(42, `42 (a ) S 1) (b) S ${rest}`), {
      pid: 42,
      ppid: 1,
      pgid: 7,
      started: '98765',
      zombie: false,
    })
    assert.equal(parseStat(42, `42 (defunct) Z ${rest}`)?.zombie, true)
    assert.equal(parseStat(42, ''), undefined)
  })

  it('is read from ps', () => {
    const text = `    1     0     1 Ss   Fri Nov 20 10:33:00 2026
  742   741   700 Z+   Fri Nov 20 10:34:05 2026

nonsense`
    assert.deepEqual(parsePs(text), [
      { pid: 1, ppid: 0, pgid: 1, started: 'Fri Nov 20 10:33:00 2026', zombie: false },
      { pid: 742, ppid: 741, pgid: 700, started: 'Fri Nov 20 10:34:05 2026', zombie: true },
    ])
  })
})
