import assert from 'node:assert/strict'
import { mock } from 'node:test'
import fc from 'fast-check'
import { delay, withTimeout } from '../../../../src/common/async.ts'
import type { ProcessRow, ProcessSystem } from '../../../../src/common/processes/process-system.ts'
import { ProcessTree } from '../../../../src/common/processes/process-tree.ts'

/** A process table like that of Windows, where processes keep the ids of exited parents and ids are reused. */
class SimulatedWindows implements ProcessSystem {
  readonly platform = 'win32'
  readonly ended: number[] = []
  readonly rows = new Map<number, ProcessRow>()

  start(pid: number, ppid: number, started: number): void {
    this.rows.set(pid, { pid, ppid, pgid: 0, started, zombie: false })
  }

  exit(pid: number): void {
    this.rows.delete(pid)
  }

  list = async () => [...this.rows.values()]
  exists = (pid: number) => this.rows.has(pid)
  signal = (pid: number) => this.#end(pid)

  /** Like `taskkill /T /F`, which needs a running root and knows descendants only by their parents' ids. */
  endTree = async (root: number) => {
    if (!this.rows.has(root)) return
    const all = [root]
    for (const parent of all) {
      for (const row of this.rows.values()) {
        if (row.ppid === parent && !all.includes(row.pid)) all.push(row.pid)
      }
    }
    for (const pid of all) this.#end(pid)
  }

  #end(pid: number): void {
    assert.ok(pid > 0, 'Windows has no groups')
    if (this.rows.delete(pid)) this.ended.push(pid)
  }
}

describe('ProcessTree on Windows', () => {
  let now: number
  let system: SimulatedWindows

  beforeEach(() => {
    now = Date.now()
    system = new SimulatedWindows()
    system.start(4, 0, now - 100_000)
    system.start(100, 4, now)
  })

  it('stops a running agent with all its child processes', async () => {
    system.start(101, 100, now + 5)
    system.start(102, 101, now + 9)
    const tree = new ProcessTree(100, system)
    assert.equal(await tree.end(0), true)
    assert.deepEqual([...system.rows.keys()], [4])
  })

  it('stops the children of an agent that exited when its input ended', async () => {
    const tree = new ProcessTree(100, system)
    system.start(101, 100, now + 5)
    system.start(102, 101, now + 9)
    await tree.recordDescendants()
    system.exit(100)
    system.exit(101)
    tree.rootExited()
    assert.equal(await tree.end(0), true)
    assert.deepEqual(system.ended, [102])
  })

  it('stops the children of an agent that crashed before its processes were first listed', async () => {
    const tree = new ProcessTree(100, system)
    system.start(101, 100, now + 5)
    system.start(102, 101, now + 9)
    system.exit(100)
    assert.equal(await tree.end(0), true)
    assert.deepEqual([...system.rows.keys()], [4])
  })

  it("doesn't stop a process that got the agent's id later, nor its children", async () => {
    const tree = new ProcessTree(100, system)
    await tree.recordDescendants()
    system.start(101, 100, now + 5)
    system.exit(100)
    system.start(100, 4, now + 5000)
    system.start(103, 100, now + 6000)
    await tree.end(0)
    assert.deepEqual(system.ended, [101])
  })

  it("doesn't stop the children of an earlier process with the agent's id", async () => {
    system.start(99, 100, now - 60_000)
    const tree = new ProcessTree(100, system)
    await tree.recordDescendants()
    system.exit(100)
    await tree.end(0)
    assert.deepEqual(system.ended, [])
  })

  it("stops the root if the processes can't be listed", async () => {
    const tree = new ProcessTree(100, Object.assign(system, { list: async () => undefined }))
    await tree.end(0)
    assert.deepEqual(system.ended, [100])
  })

  it('stops listing processes when all of them are gone', async () => {
    const tree = new ProcessTree(100, system)
    system.exit(100)
    tree.rootExited()
    system.start(100, 4, now + 5000)
    await tree.signal('SIGKILL')
    tree.kill()
    assert.equal(await tree.isAlive(), false)
    assert.deepEqual(system.ended, [])
  })

  it('stops every descendant that was seen or belongs to one, and no other process', async () => {
    const step = fc.record({
      kind: fc.constantFrom('start', 'exit', 'look', 'reuse'),
      pid: fc.integer({ min: 100, max: 112 }),
      parent: fc.integer({ min: 100, max: 112 }),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async steps => {
        const system = new SimulatedWindows()
        let time = Date.now()
        system.start(100, 4, time)
        const mine = new Set([`100@${time}`])
        const key = (row: ProcessRow) => `${row.pid}@${row.started}`
        const tree = new ProcessTree(100, system)
        await tree.recordDescendants()
        for (const { kind, pid, parent } of steps) {
          time += 10
          if (kind === 'look') await tree.recordDescendants()
          else if (kind === 'exit') {
            // a process that starts and exits without being listed hides the relation of its children to their ancestors
            await tree.recordDescendants()
            system.exit(pid)
          } else if (!system.rows.has(pid)) {
            const row = kind === 'start' ? system.rows.get(parent) : undefined
            system.start(pid, row?.pid ?? 4, time)
            if (row && mine.has(key(row))) mine.add(`${pid}@${time}`)
          }
        }
        const others = [...system.rows.values()].filter(row => !mine.has(key(row))).map(key)
        await tree.end(0)
        assert.deepEqual([...system.rows.values()].map(key), others)
      }),
    )
  })
})

describe('ProcessTree on POSIX', () => {
  const rows = new Map<number, ProcessRow>()
  let signaled: number[]
  const system: ProcessSystem = {
    platform: 'linux',
    list: async () => [...rows.values()],
    exists: pid =>
      pid > 0 ? rows.has(pid) : [...rows.values()].some(row => row.pgid === -pid && !row.zombie),
    signal: pid => {
      signaled.push(pid)
      for (const row of rows.values()) if (pid > 0 ? row.pid === pid : row.pgid === -pid) rows.delete(row.pid)
    },
    endTree: () => assert.fail('only on Windows'),
  }
  const add = (pid: number, ppid: number, started: number) =>
    rows.set(pid, { pid, ppid, pgid: pid, started, zombie: false })
  /** Its children belong to init then. */
  const exit = (pid: number) => {
    rows.delete(pid)
    for (const row of rows.values()) if (row.ppid === pid) row.ppid = 1
  }

  beforeEach(() => {
    rows.clear()
    signaled = []
    add(1, 0, 0)
    add(100, 1, 10)
  })

  for (const step of [-3_600_000, 3_600_000]) {
    it(`waits as long as it should for the end if the clock is set ${step > 0 ? 'ahead' : 'back'} meanwhile`, async () => {
      const now = Date.now
      const tree = new ProcessTree(100, system)
      let looks = 0
      mock.method(Date, 'now', () => now() + step * looks++)
      try {
        assert.equal(await withTimeout(tree.goneWithin(50), 5000), false)
        const gone = tree.goneWithin(60_000)
        await delay(1)
        exit(100)
        assert.equal(await gone, true)
      } finally {
        mock.restoreAll()
      }
    })
  }

  it('ends the daemons of a killed root that it followed', async () => {
    const tree = new ProcessTree(100, system)
    add(101, 100, 11)
    await tree.follow()
    exit(100)
    tree.rootExited()
    add(102, 101, 20)
    assert.equal(await tree.end(0), true)
    assert.deepEqual([...rows.keys()], [1])
  })

  it('ends them even if the root was killed while it was followed', async () => {
    const tree = new ProcessTree(100, system)
    add(101, 100, 11)
    await tree.follow()
    // listed before its row disappeared
    rows.get(101)!.ppid = 1
    await tree.follow()
    exit(100)
    tree.rootExited()
    await tree.end(0)
    assert.deepEqual([...rows.keys()], [1])
  })

  it("doesn't end what left the tree while the root ran, such as a browser", async () => {
    const tree = new ProcessTree(100, system)
    add(101, 100, 11)
    add(102, 101, 12)
    await tree.follow()
    exit(101)
    await tree.follow()
    await tree.follow()
    exit(100)
    tree.rootExited()
    await tree.end(0)
    assert.deepEqual([...rows.keys()], [1, 102])
  })

  it("doesn't end a later process with the id of a daemon", async () => {
    const tree = new ProcessTree(100, system)
    add(101, 100, 11)
    await tree.follow()
    exit(101)
    exit(100)
    tree.rootExited()
    add(101, 1, 50)
    await tree.end(0)
    assert.deepEqual([...rows.keys()], [1, 101])
  })
})
