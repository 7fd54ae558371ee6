import assert from 'node:assert/strict'
import {
  operatingSystem,
  parsePs,
  parseStat,
  parseWindows,
} from '../../../../src/common/processes/process-system.ts'

describe('the list of processes', () => {
  it('contains this process and its parent', async () => {
    const rows = await operatingSystem.list()
    const own = rows?.find(row => row.pid === process.pid)
    assert.equal(own?.ppid, process.ppid)
    assert.equal(own?.zombie, false)
    assert.ok(rows?.some(row => row.pid === process.ppid))
  })

  it('is read from /proc, whatever the names of the processes', () => {
    const rest = '1 7 7 34816 42 4194304 100 0 0 0 1 2 0 0 20 0 1 0 98765 1000 200 0'
    assert.deepEqual(parseStat(42, `42 (a ) S 1) (b) S ${rest}`), {
      pid: 42,
      ppid: 1,
      pgid: 7,
      started: 98765,
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
      { pid: 1, ppid: 0, pgid: 1, started: Date.parse('Fri Nov 20 10:33:00 2026'), zombie: false },
      { pid: 742, ppid: 741, pgid: 700, started: Date.parse('Fri Nov 20 10:34:05 2026'), zombie: true },
    ])
  })

  it('is read from Win32_Process', () => {
    const text = '4 0 1763630000000\r\n812 4 1763631000123\r\nSomething : else\r\n'
    assert.deepEqual(parseWindows(text), [
      { pid: 4, ppid: 0, pgid: 0, started: 1763630000000, zombie: false },
      { pid: 812, ppid: 4, pgid: 0, started: 1763631000123, zombie: false },
    ])
  })
})
