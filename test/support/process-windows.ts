import { randomUUID } from 'node:crypto'
import type { LockingWindows } from '../../src/agents/registry/file-lock.ts'
import { operatingSystem } from '../../src/common/processes/process-system.ts'

/** A window among those that live as long as their processes. */
export function processWindow(): LockingWindows {
  const isAlive: LockingWindows['isAlive'] = (_, { pid }) => operatingSystem.exists(Number(pid))
  return { own: randomUUID(), start() {}, isAlive }
}
