import type { DisposableStore } from '../common/disposable.ts'
import { createProcessGuard } from '../common/processes/process-guard.ts'
import { agentHosts } from './agents/agent-services.ts'
import type { ProcessPlatform } from './platform.ts'
import { createStorageServices } from './storage/storage-services.ts'

export type ProcessScope = ReturnType<typeof createProcessScope>

/** Creates what windows can share: the stores and the processes. It holds nothing of one window. */
export function createProcessScope(platform: ProcessPlatform, own: DisposableStore) {
  const { log } = platform
  const script = platform.fileInExtension('dist', 'process-guard.cjs')
  const guard = own.add(createProcessGuard({ script, log }))
  return { ...createStorageServices(platform, own), guard, hosts: agentHosts(platform), log }
}
