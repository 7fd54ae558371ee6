/**
 * The guard's program, bundled as a file of its own. Reads lines `add <pid>` and `remove <pid>`; when its input ends,
 * the process that owned the agents is gone: it gives them a moment, then ends the groups that are still there.
 */
import { createInterface } from 'node:readline'
import { ProcessTree } from './process-tree.ts'

const graceMs = Number(process.argv[2]) || 0
const watched = new Map<number, ProcessTree>()

createInterface({ input: process.stdin })
  .on('line', line => {
    const [word, number] = line.split(' ')
    const pid = Number(number)
    if (!Number.isInteger(pid) || pid <= 1) return
    if (word === 'add') watched.set(pid, new ProcessTree(pid))
    else if (word === 'remove') watched.delete(pid)
  })
  .on('close', () => {
    for (const tree of watched.values()) void end(tree)
  })

/** A tree that was gone once is left alone: its number may be given to another process. */
async function end(tree: ProcessTree): Promise<void> {
  await tree.look()
  if (await tree.goneWithin(graceMs)) return
  await tree.look()
  await tree.signal('SIGTERM')
  if (await tree.goneWithin(graceMs)) return
  await tree.signal('SIGKILL')
}
