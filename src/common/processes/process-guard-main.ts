/**
 * The guard's program, bundled as a file of its own. Reads the lines `add <pid>`, `follow <pid> <descendant>:<started>…`,
 * `remove <pid>` and `now`. When its input
 * ends, the process that owned the trees is gone: it gives them time to exit (none after `now`), then ends those that are
 * still there.
 */
import { createInterface } from 'node:readline'
import { KILL_AFTER_MS } from '../limits.ts'
import { ProcessTree } from './process-tree.ts'

let graceMs = Number(process.argv[2]) || 0
const watched = new Map<number, ProcessTree>()

createInterface({ input: process.stdin })
  .on('line', line => {
    const [word, number, ...descendants] = line.split(' ')
    const pid = Number(number)
    if (word === 'now') graceMs = 0
    else if (!Number.isInteger(pid) || pid <= 1) return
    else if (word === 'add') watched.set(pid, new ProcessTree(pid))
    else if (word === 'follow')
      watched
        .get(pid)
        ?.remember(new Map(descendants.map(one => one.split(':').map(Number) as [number, number])))
    else if (word === 'remove') watched.delete(pid)
  })
  .on('close', () => {
    for (const tree of watched.values()) void end(tree)
  })

async function end(tree: ProcessTree): Promise<void> {
  // An agent that exits now leaves its shells behind, which can't be distinguished from others later.
  await tree.recordDescendants()
  if (await tree.goneWithin(graceMs)) return
  await tree.end(KILL_AFTER_MS)
}
