/**
 * The guard's program, bundled as a file of its own. Reads lines `add <pid>` and `remove <pid>`; when its input ends,
 * the process that owned the agents is gone: it gives them a moment, then ends the groups that are still there.
 */
import { createInterface } from 'node:readline'
import { signalTree, treeIsAlive } from './process-tree.ts'

const graceMs = Number(process.argv[2]) || 0
const watched = new Set<number>()

createInterface({ input: process.stdin })
  .on('line', line => {
    const [word, number] = line.split(' ')
    const pid = Number(number)
    if (!Number.isInteger(pid) || pid <= 1) return
    if (word === 'add') watched.add(pid)
    else if (word === 'remove') watched.delete(pid)
  })
  .on('close', () => void end())

async function end(): Promise<void> {
  if (await goneWithin(graceMs)) return
  for (const pid of watched) signalTree(pid, 'SIGTERM')
  if (await goneWithin(graceMs)) return
  for (const pid of watched) signalTree(pid, 'SIGKILL')
}

/** Forgets a group as soon as it is gone, since its number may then be given to another. */
async function goneWithin(ms: number): Promise<boolean> {
  const until = Date.now() + ms
  for (;;) {
    for (const pid of watched) if (!treeIsAlive(pid)) watched.delete(pid)
    if (watched.size === 0) return true
    if (Date.now() >= until) return false
    await new Promise(resolve => setTimeout(resolve, 50))
  }
}
