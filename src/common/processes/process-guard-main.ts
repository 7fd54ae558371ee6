/**
 * The guard's program, bundled as a file of its own. Reads the lines `add <pid> <variable>`, `follow <pid> <seen> <descendant>:<started>…`,
 * `remove <pid>` and `now`. When its input ends, the process that owned the trees is gone: the guard gives the trees time to exit (none
 * after `now`), and then ends those that are still running.
 */
import { createInterface } from 'node:readline'
import { KILL_AFTER_MS } from '../limits.ts'
import { ProcessTree } from './process-tree.ts'

let graceMs = Number(process.argv[2]) || 0
let isKilled = true
const watched = new Map<number, { tree: ProcessTree; variable: string }>()

createInterface({ input: process.stdin })
  .on('line', line => {
    const [word, number, argument = '', ...descendants] = line.split(' ')
    const pid = Number(number)
    if (word === 'now') {
      graceMs = 0
      isKilled = false
    } else if (!Number.isInteger(pid) || pid <= 1) return
    else if (word === 'add') watched.set(pid, { tree: new ProcessTree(pid), variable: argument })
    else if (word === 'follow') {
      const started = descendants.map(one => one.split(':').map(Number) as [number, number])
      watched.get(pid)?.tree.remember(new Map(started), Number(argument))
    } else if (word === 'remove') watched.delete(pid)
  })
  .on('close', () => {
    for (const { tree, variable } of watched.values()) void end(tree, variable)
  })

async function end(tree: ProcessTree, variable: string): Promise<void> {
  const record = async () => {
    // An agent that exits now leaves its shells behind, which can't be distinguished from other processes later.
    await tree.recordDescendants()
    if (isKilled && variable !== '') await tree.recordNewborn(variable)
  }
  await record()
  if (await tree.goneWithin(graceMs)) return
  await record()
  await tree.end(KILL_AFTER_MS)
}
