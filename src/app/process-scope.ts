import type { DisposableStore } from '../common/disposable.ts'
import { createProcessGuard } from '../common/processes/process-guard.ts'
import { OpenSessions } from '../sessions/open-sessions.ts'
import { HeldSessions } from '../sessions/session-leases.ts'
import { createMachineAgents } from './agents/machine-agents.ts'
import type { ProcessPlatform } from './platform.ts'
import { ProcessWindows } from './process-windows.ts'
import { createStorageServices } from './storage/storage-services.ts'

export type ProcessScope = ReturnType<typeof createProcessScope>

/**
 * Creates what the windows of a process share: the stores, the processes, the agents of the machine, and the open sessions. Nothing in it
 * belongs to a single window.
 */
export function createProcessScope(platform: ProcessPlatform, own: DisposableStore) {
  const { log, secrets } = platform
  const script = platform.fileInExtension('dist', 'process-guard.cjs')
  const guard = own.add(createProcessGuard({ script, log }))
  const processWindows = own.add(new ProcessWindows())
  const stores = createStorageServices(platform, processWindows, own)
  const machine = createMachineAgents(platform, processWindows, guard, stores.processRow, own)
  const openSessions = own.add(new OpenSessions(new HeldSessions(stores.leases), log))
  return { ...stores, ...machine, guard, log, openSessions, processWindows, secrets }
}
