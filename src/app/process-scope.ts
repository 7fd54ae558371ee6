import type { DisposableStore } from '../common/disposable.ts'
import { createProcessGuard } from '../common/processes/process-guard.ts'
import { createMachineAgents } from './agents/machine-agents.ts'
import type { ProcessPlatform } from './platform.ts'
import { createStorageServices } from './storage/storage-services.ts'

export type ProcessScope = ReturnType<typeof createProcessScope>

/** Creates what windows can share: the stores, the processes, and the agents of the machine. It holds nothing of one window. */
export function createProcessScope(platform: ProcessPlatform, own: DisposableStore) {
  const { log, secrets } = platform
  const script = platform.fileInExtension('dist', 'process-guard.cjs')
  const guard = own.add(createProcessGuard({ script, log }))
  const stores = createStorageServices(platform, own)
  return { ...stores, ...createMachineAgents(platform, guard, stores.windowRows, own), guard, log, secrets }
}
